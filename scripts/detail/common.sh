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
show_help() { sed -n '3,/^[^#]/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[1]}"; }

# need_value OPTION NUMBER_OF_WORDS_LEFT
need_value() { [ "$2" -ge 2 ] || die "$1 needs a value; see --help"; }

check_backend() {
  case $1 in
    serial | openmp | cuda) ;;
    *) die "--backend $1: serial, openmp or cuda is wanted" ;;
  esac
}

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
    --yes --no-install-recommends "${missing[@]}")
  mkdir -p "${log%/*}"
  # The lists of a fresh machine are empty or old: refresh them if need be.
  "${install[@]}" >"$log" 2>&1 ||
    { quietly "$log" "${sudo[@]}" apt-get update && quietly "$log" "${install[@]}"; }
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

# look_at_cores: sets `share`, how much of the cores' time a program gets that wants all of
# them, in per cent, and `power`, how many cores of an AMD EPYC of 2.6 GHz do as much work
# with all of their time, in hundredths. Takes half a second on idle cores.
look_at_cores() {
  local TIMEFORMAT='%R %U %S' cores
  cores=$(nproc)
  # A core of that EPYC takes 0.48 seconds for its part.
  read -r share power < <({ time use_cores "$cores"; } 2>&1 | awk -v cores="$cores" '{
    share = int(100 * ($2 + $3) / ($1 * cores) + 0.5)
    print (share > 100 ? 100 : share), int(100 * cores * 0.48 / $1 + 0.5)
  }')
}
# use_cores N: each with the same work
use_cores() {
  local _
  for _ in $(seq "$1"); do
    sh -c 'i=0; while [ "$i" -lt 500000 ]; do i=$((i + 1)); done' &
  done
  wait
}

# check_prefix DIRS BACKEND: Kokkos and Kokkos Kernels are installed there, with the
# backend as the default one.
check_prefix() {
  local probe=$root/build/check_prefix
  rm -rf "$probe"
  quietly "$probe.log" cmake -S "$root/cmake/find_installed" -B "$probe" -G Ninja \
    -DCMAKE_PREFIX_PATH="$1" -Dbackend="$2" -Dresult="$probe/installed.txt"
}

# count_tests FILE: what ctest wrote to a file of JUnit's, in a few words.
count_tests() {
  local file=$1 note=
  count() {
    sed -nE "s/.*<testsuite.* $1=\"([0-9]+)\".*/\1/p;s/^[[:space:]]*$1=\"([0-9]+)\".*/\1/p" "$file" |
      head -n 1
  }
  local tests failures skipped
  tests=$(count tests) failures=$(count failures) skipped=$(count skipped)
  [ "${skipped:-0}" -eq 0 ] || note=", $skipped skipped"
  echo "$((tests - failures - ${skipped:-0})) passed, $failures failed$note"
}
