// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_REWRITTEN_ROWS_HPP
#define STRATA_REWRITTEN_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <detail/Strata_PlanStorage.hpp>

namespace Strata {

/// How new values become those of rows rewritten all over a graph (see
/// CollapsedLevels): what CollapsedRows is where there are sub-graphs.
///
/// Which numbers meet in a rewritten row is written down as a program, so that
/// new values need no searching. The row has a slot for each of its terms,
/// ascending, then one for each source, ascending; all begin as 0. First its
/// own entries are added to their slots. Then its terms are replaced, the
/// newest first, so that a slot is final when its turn comes: what it holds
/// over the diagonal of the term's row is the term's number, and that times the
/// entries of the term's row is taken from their slots. The program has a byte
/// each for the numbers of terms and of sources; in the order in which they are
/// replaced, for the terms' numbers of entries; and for the slots of all
/// entries, the row's own first. Rows that are as they were have none.
///
/// All is by position, the place of a row in the order of use: neighbours there
/// are read together, and most of their terms are neighbours, too.
template <class MemorySpace>
struct RewrittenRows {
  /// Where a position's entries and its program begin.
  struct Place {
    int entry;
    unsigned program;
  };
  Kokkos::View<Place*, MemorySpace> place;  // one more at the end
  /// Entries of the positions as the matrix has them, the diagonal before them
  /// (-1: it is one).
  Detail::OriginIndex<MemorySpace> origin;
  Kokkos::View<unsigned char*, MemorySpace> program;
  static constexpr int head = 2;
  /// User's row -> where its entries begin.
  Kokkos::View<int*, MemorySpace> entry_of;
  /// RewriteFaults, as before a look.
  Kokkos::View<std::int64_t*, MemorySpace> faults;
  /// Of a rewritten row: most other rows' terms, most sources.
  int most_terms = 0, most_sources = 0;

  /// Has the arrays taken out of a storage: again with the numbers of elements
  /// that they have, to be copied there as a whole.
  void take(Detail::PlanStorage<MemorySpace>& storage, std::int64_t vertices,
            std::int64_t entries, std::int64_t program_bytes,
            std::int64_t num_faults, std::int64_t num_values) {
    storage.take(faults, num_faults);
    storage.take(origin, entries, num_values);
    storage.take(place, vertices + 1);
    storage.take(entry_of, vertices);
    storage.take(program, program_bytes);
  }
  void take_again(Detail::PlanStorage<MemorySpace>& storage,
                  std::int64_t num_values) {
    take(storage, static_cast<std::int64_t>(entry_of.extent(0)), origin.size(),
         static_cast<std::int64_t>(program.extent(0)),
         static_cast<std::int64_t>(faults.extent(0)), num_values);
  }
  /// Bytes from the first array's beginning to the last one's end.
  std::size_t extent() const {
    return static_cast<std::size_t>(
        program.data() + program.extent(0) -
        reinterpret_cast<const unsigned char*>(faults.data()));
  }
  std::size_t bytes() const {
    return place.extent(0) * sizeof(Place) + origin.bytes() +
           program.extent(0) + entry_of.extent(0) * sizeof(int) +
           faults.extent(0) * sizeof(std::int64_t);
  }
};

}  // namespace Strata

#endif
