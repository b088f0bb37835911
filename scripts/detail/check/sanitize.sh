# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Builds tests and fuzz drivers with sanitizers and runs them; see docs/developer/testing.md.
#
#   scripts/check sanitize [options]
#
#   --backend serial|openmp|cuda  default: openmp
#   --arch sm_XX                  CUDA architecture; default: of the GPU found
#   --quick                       the fuzz drivers and some unit tests, in eight
#                                 minutes on two cores; default: all of them
#   --seconds S                   for each fuzz driver; default: 60, and 10 with
#                                 --quick
#   --seed-from N                 first seed of the fuzz drivers; default: 1
#   --jobs N, --prefix DIR, --kokkos-source DIR, --kokkos-kernels-source DIR
#                                 as for scripts/build
#
# Fails if a test fails and if a sanitizer reports anything, in whichever program.
# The last line says how many programs ran on how many seeds, and what was found.

parse_options backend=openmp arch= quick seconds= seed-from=1 jobs= prefix= kokkos-source= \
  kokkos-kernels-source= -- "$@"
no_words
given arch jobs prefix kokkos-source kokkos-kernels-source
[ -n "$seconds" ] || seconds=$([ -n "$quick" ] && echo 10 || echo 60)
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "--seconds $seconds: a positive number is wanted"
[[ $seed_from =~ ^[0-9]+$ ]] || die "--seed-from $seed_from: a number is wanted"

# A backend's tools are a file, which uses the variables above: it sets `ran` to what has
# run, and the array `failed`.
case $backend in
  serial | openmp) . "$root/scripts/detail/check/sanitize_host.sh" ;;
  cuda) . "$root/scripts/detail/check/sanitize_cuda.sh" ;;
  *) die "--backend $backend: serial, openmp or cuda is wanted" ;;
esac
verdict="nothing found"
[ ${#failed[@]} -eq 0 ] || verdict="FOUND: $(printf '%s; ' "${failed[@]}")"
echo "sanitizers, $backend: $ran, ${verdict%; }"
[ ${#failed[@]} -eq 0 ]
