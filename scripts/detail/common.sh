# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# Sourced by the scripts beside this folder, with `root` for them to use.
set -euo pipefail
# shellcheck disable=SC2034
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The comment at the head of the calling file is its help.
show_help() { sed -n '3,/^[^#]/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[${1:-1}]}"; }

# parse_options NAME=DEFAULT... NAME... -- WORD...: sets a variable for each option --NAME,
# with _ for -: to the value that follows it, or to yes where it takes none. Words that are
# no options go to the array `words`. Every script has --no-install: see need_debian.
parse_options() {
  local names=" " valued=" " name
  words=()
  while [ "$1" != -- ]; do
    name=${1%%=*} names+="${1%%=*} "
    [ "$name" = "$1" ] || valued+="$name "
    printf -v "${name//-/_}" %s "${1:${#name}+1}"
    shift
  done
  shift
  while [ $# -gt 0 ]; do
    name=${1#--}
    if [ "$1" = -h ] || [ "$1" = --help ]; then
      show_help 2
      echo "--no-install lists the Debian packages that are missing instead of installing them."
      exit 0
    elif [ "$1" = --no-install ]; then
      export STRATA_NO_INSTALL=yes
    elif [ "$1" != "$name" ] && [[ $valued == *" $name "* ]]; then
      [ $# -ge 2 ] || die "$1 needs a value; see --help"
      printf -v "${name//-/_}" %s "$2"
      shift
    elif [ "$1" != "$name" ] && [[ $names == *" $name "* ]]; then
      printf -v "${name//-/_}" yes
    elif [[ $1 == -* ]]; then
      die "unknown option $1; see --help"
    else
      words+=("$1")
    fi
    shift
  done
}
# given NAME...: sets the array `given` to these options as they were given.
given() {
  local name value
  given=()
  for name in "$@"; do
    value=${name//-/_} value=${!value}
    case $value in "") ;; yes) given+=("--$name") ;; *) given+=("--$name" "$value") ;; esac
  done
}
# no_words: ends where a word is no option.
no_words() { [ ${#words[@]} -eq 0 ] || die "unknown option ${words[0]}; see --help"; }

# What scripts/check fuzz and sanitize run.
# shellcheck disable=SC2034
fuzz_drivers=(triangular matrix_market band dense sell cg)

# check_sources DIR...: of Kokkos and Kokkos Kernels.
check_sources() {
  local dir
  for dir in "$@"; do
    [ -f "$dir/CMakeLists.txt" ] || die "$dir holds no CMakeLists.txt"
  done
}

# one_of OPTION VALUE WORD...: ends where the value is none of the words.
one_of() {
  local word
  for word in "${@:3}"; do
    [ "$2" != "$word" ] || return 0
  done
  die "$1 $2: one of ${*:3} is wanted"
}
check_backend() { one_of --backend "$1" serial openmp cuda hip; }

# Compilers of template code take up to 2 GB each, so memory counts as well.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# source_version DIR: the version that the sources of Kokkos or Kokkos Kernels state
source_version() {
  sed -nE 's/^ *set *\( *(Kokkos|KokkosKernels)_VERSION_(MAJOR|MINOR|PATCH) +"?([0-9]+)"? *\).*/\3/Ip' \
    "$1/CMakeLists.txt" | head -n 3 | paste -sd.
}

# Puts nvcc, which nvcc_wrapper calls by that name, on the PATH.
find_nvcc() {
  command -v nvcc >/dev/null && return
  local dir
  for dir in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    if [ -n "$dir" ] && [ -x "$dir/bin/nvcc" ]; then
      export PATH="$dir/bin:$PATH"
      return
    fi
  done
  return 1
}

need_nvcc() {
  find_nvcc || die "CUDA needs its toolkit: no nvcc is on the PATH or in /usr/local/cuda/bin"
}

# choose_compiler PREFIX BACKEND: sets the array `compiler_option` to CMake's option, which is
# nvcc_wrapper of the Kokkos in the first of these folders, or hipcc, or CXX, or none.
choose_compiler() {
  compiler_option=()
  if [ "$2" = cuda ]; then
    need_nvcc
    compiler_option=(-DCMAKE_CXX_COMPILER="${1%%;*}/bin/nvcc_wrapper")
  elif [ "$2" = hip ]; then
    compiler_option=(-DCMAKE_CXX_COMPILER=hipcc)
    # CMake's packages of ROCm ask a device for its architecture, unless a file has it.
    export ROCM_TARGET_LST=$root/dependencies/rocm_targets
  elif [ -n "${CXX:-}" ]; then
    compiler_option=(-DCMAKE_CXX_COMPILER="$CXX")
  fi
}

# A compiler cache has no use for precompiled headers.
precompiled_headers() { [ -n "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && echo OFF || echo ON; }

# keep_prefix FILE PREFIX FOLDER: CMake remembers where it found packages. Removes FOLDER
# unless PREFIX, which FILE has then, is what its build has used.
keep_prefix() {
  if [ -f "$1" ] && [ "$(cat "$1")" != "$2" ]; then
    rm -rf "$3"
  fi
  mkdir -p "${1%/*}"
  echo "$2" >"$1"
}

# quietly LOG COMMAND...: the output goes to the log and is shown on failure.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "failed: $* (all of its output: $log)"
  fi
}

# compile LOG FOLDER SOURCE CMAKE_OPTION...: with `compiler_option`.
compile() {
  quietly "${1%.log}-configure.log" cmake -S "$3" -B "$2" -G Ninja "${compiler_option[@]}" "${@:4}"
  quietly "$1" cmake --build "$2" --parallel "$(jobs)"
}

# build_all FOLDER CMAKE_OPTION...: builds what compiles of the library and its tests, with
# `compiler_option`. Sets `versions` to those of Kokkos and `status`.
build_all() {
  quietly "$1/configure.log" cmake -S "$root" -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "${compiler_option[@]}" "${@:2}"
  versions=$(sed -n 's/^-- \(Kokkos [0-9.]*, Kokkos Kernels [0-9.]*\)$/\1/p' "$1/configure.log")
  say "Building with $versions"
  status=0
  cmake --build "$1" --parallel "$(jobs)" -- -k 0 >"$1/build.log" 2>&1 ||
    { status=1 && grep -E '^FAILED|error:' "$1/build.log" >&2; }
}

# have_package NAME PROBE: the probe is a command, a path, a Python module or a
# library to link with.
have_package() {
  case $2 in
    /*) [ -e "$2" ] || compgen -G "$2" >/dev/null ;;
    library:*) echo 'int main() {}' | "${CXX:-g++}" -x c++ - "-l${2#library:}" \
      -o /dev/null 2>/dev/null ;;
    python:*) /usr/bin/python3 -c "import ${2#python:}" 2>/dev/null ;;
    *) command -v "$2" >/dev/null ;;
  esac
}

# need_debian LOG "NAME PROBE"...: installs those of Debian's packages that are missing.
need_debian() {
  local log=$1 missing=() entry
  shift
  for entry in "$@"; do
    # shellcheck disable=SC2086 # an entry is two words
    have_package $entry || missing+=("${entry%% *}")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local sudo=()
  [ -z "${STRATA_NO_INSTALL:-}" ] || die "please install these (Debian's names): ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    sudo=(sudo -n)
    [ ! -t 0 ] || sudo=(sudo)
  fi
  if ! command -v apt-get >/dev/null ||
    { [ ${#sudo[@]} -gt 0 ] && ! "${sudo[@]}" true 2>/dev/null; }; then
    die "please install these (Debian's names): ${missing[*]}"
  fi
  say "Installing ${missing[*]}"
  local install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install
    --yes --no-install-recommends -o Acquire::Retries=1 -o Acquire::http::Timeout=20
    -o DPkg::Lock::Timeout=20 "${missing[@]}")
  mkdir -p "${log%/*}"
  # The lists of a fresh machine are empty or old: refresh them if need be.
  "${install[@]}" >"$log" 2>&1 ||
    { quietly "$log" "${sudo[@]}" apt-get update && quietly "$log" "${install[@]}"; }
}

# environment PYTHON DIR REQUIREMENTS: a virtual environment with those packages.
environment() {
  local python=$1 folder=$2 requirements=$3
  if cmp -s "$requirements" "$folder/requirements.txt"; then
    return
  fi
  say "Installing what $(basename "$requirements") names into $folder"
  rm -rf "$folder"
  quietly "$folder.log" "$python" -m venv "$folder"
  quietly "$folder.log" "$folder/bin/pip" install --disable-pip-version-check \
    --requirement "$requirements"
  cp "$requirements" "$folder/requirements.txt"
}

# announced LOG COMMAND...: what the command says of its progress is shown, everything
# else that it writes to stderr goes to the log, whose end is shown on failure.
announced() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! { "$@" 2>&1 >&3 | tee "$log" | sed -un 's/^==> /    /p' >&2; } 3>&1; then
    tail -n 40 "$log" >&2
    die "failed: $* (all of its output: $log)"
  fi
}

# find_installed BACKEND CMAKE_OPTION...: prints the folders of an installed Kokkos and Kokkos
# Kernels, with that backend as the default one; ends where there are none.
find_installed() {
  local probe=$root/build/find_installed
  rm -rf "$probe"
  quietly "$probe.log" cmake -S "$root/cmake/find_installed" -B "$probe" -G Ninja \
    -Dbackend="$1" -Dresult="$probe/installed.txt" "${@:2}"
  cat "$probe/installed.txt"
}
