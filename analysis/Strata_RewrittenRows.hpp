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
/// each for the numbers of terms and of sources, and two for that of all
/// entries, the lower first; in the order in which they are replaced, a byte
/// for each term's number of entries; and one for the slot of each entry, the
/// row's own first. Rows that are as they were have none.
///
/// Programs say nothing of where numbers stand: rows alike share one (see
/// SharePrograms).
///
/// The values of the matrix are numbered so that those of a row follow each
/// other, the entries ascending by source. Where the user's values are in order
/// (see DependencyGraph), rows are as in the matrix, the diagonal after a row's
/// entries, and numbers stand for themselves: backwards if `reversed`. Else
/// `origin` has a place for each, by position, as most terms of neighbours are
/// neighbours there, too, and the diagonal (-1: it is one) before the entries.
template <class MemorySpace>
struct RewrittenRows {
  /// The numbers of a row's first entry and of its diagonal, -1 if there is
  /// none.
  struct Row {
    int first, diagonal;
  };
  /// Position -> where its program begins, in words of four bytes, if any; and
  /// the same in half as many bytes, if there are few programs: a plan has one
  /// of them.
  Kokkos::View<unsigned*, MemorySpace> program_of;
  Kokkos::View<unsigned short*, MemorySpace> near_program_of;
  Kokkos::View<unsigned char*, MemorySpace> program;
  static constexpr int head = 4, word = 4;
  static constexpr unsigned no_program = 0xffffffffu, no_near_program = 0xffff;
  /// Vertex -> number that its row begins with; one more at the end.
  Kokkos::View<int*, MemorySpace> begin_of;
  Detail::OriginIndex<MemorySpace> origin;
  bool values_in_order = false, reversed = false, unit = false;
  std::int64_t last_value = 0;
  /// RewriteFaults, as before a look.
  Kokkos::View<std::int64_t*, MemorySpace> faults;
  /// Of a rewritten row: most other rows' terms, most sources.
  int most_terms = 0, most_sources = 0;

  /// Has the arrays taken out of a storage: again with the numbers of elements
  /// that they have, but for programs, to be copied there as a whole.
  /// @param far  with program_of
  void take(Detail::PlanStorage<MemorySpace>& storage, std::int64_t vertices,
            std::int64_t numbers, std::int64_t program_bytes,
            std::int64_t num_faults, std::int64_t num_values, bool far = true) {
    storage.take(program_of, far ? vertices : 0);
    storage.take(faults, num_faults);
    storage.take(origin, values_in_order ? 0 : numbers, num_values);
    storage.take(begin_of, vertices + 1);
    // Programs begin with a whole word.
    storage.take(near_program_of, (vertices + 1) / 2 * 2);
    storage.take(program, program_bytes);
  }
  void take_again(Detail::PlanStorage<MemorySpace>& storage,
                  std::int64_t program_bytes, std::int64_t num_values) {
    take(storage, num_vertices(), origin.size(), program_bytes,
         static_cast<std::int64_t>(faults.extent(0)), num_values,
         !all_near(program_bytes));
  }
  /// Whether near_program_of will do for so many bytes of programs.
  static bool all_near(std::int64_t program_bytes) {
    return program_bytes / word <= no_near_program;
  }
  /// The first array that a plan with so many bytes of programs has, and the
  /// bytes from its beginning to the end of the last.
  unsigned char* first(std::int64_t program_bytes) const {
    return all_near(program_bytes)
               ? reinterpret_cast<unsigned char*>(faults.data())
               : reinterpret_cast<unsigned char*>(program_of.data());
  }
  std::size_t extent(std::int64_t program_bytes) const {
    return static_cast<std::size_t>(program.data() + program_bytes -
                                    first(program_bytes));
  }
  std::size_t bytes() const {
    return program_of.extent(0) * sizeof(unsigned) +
           near_program_of.extent(0) * sizeof(unsigned short) + origin.bytes() +
           program.extent(0) + begin_of.extent(0) * sizeof(int) +
           faults.extent(0) * sizeof(std::int64_t);
  }

  KOKKOS_FUNCTION int num_vertices() const {
    return static_cast<int>(begin_of.extent(0)) - 1;
  }
  /// A row's program; null: it has none.
  KOKKOS_INLINE_FUNCTION const unsigned char* program_at(int position) const {
    const bool near = program_of.extent(0) == 0;
    const unsigned begin =
        near ? near_program_of(position) : program_of(position);
    return begin == (near ? no_near_program : no_program)
               ? nullptr
               : program.data() + std::size_t{begin} * word;
  }
  /// Entries of the row and of its terms' rows.
  KOKKOS_INLINE_FUNCTION static int operations(const unsigned char* program) {
    return program[2] | program[3] << 8;
  }
  KOKKOS_INLINE_FUNCTION int vertex(int user_row) const {
    return reversed ? num_vertices() - 1 - user_row : user_row;
  }
  KOKKOS_INLINE_FUNCTION Row row(int user_row) const {
    const int v = vertex(user_row), begin = begin_of(v);
    if (!values_in_order) return {begin + 1, begin};
    return {begin, unit ? -1 : begin_of(v + 1) - 1};
  }
  /// The number after a row's last entry.
  /// @param following  the user's row at the next position, -1: there is none
  KOKKOS_INLINE_FUNCTION int end(int user_row, int following) const {
    if (values_in_order) return begin_of(vertex(user_row) + 1) - (unit ? 0 : 1);
    return following < 0 ? static_cast<int>(origin.size())
                         : begin_of(vertex(following));
  }
  /// Where the user's values have a number; -1: nowhere.
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(int number) const {
    if (!values_in_order) return origin(number);
    return reversed ? last_value - number : number;
  }
};

}  // namespace Strata

#endif
