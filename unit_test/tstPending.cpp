// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstring>
#include <detail/Strata_Pending.hpp>
#include <limits>
#include <random>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Strata::Detail::Pending;
using Complex = Kokkos::complex<double>;
using ComplexFloat = Kokkos::complex<float>;

/// Publishes value i at place i and reads it back; `ready` gets two bits:
/// before and after.
template <class Scalar>
struct Publish {
  Kokkos::View<Scalar*, Memory> value, place, back;
  Kokkos::View<int*, Memory> ready;
  KOKKOS_FUNCTION void operator()(int i) const {
    Pending<Scalar>::reset(&place(i));
    ready(i) = Pending<Scalar>::read(&place(i), back(i)) ? 1 : 0;
    Pending<Scalar>::publish(&place(i), value(i));
    if (Pending<Scalar>::read(&place(i), back(i))) ready(i) |= 2;
  }
};

/// Stores only one word of a value that has two.
template <class Scalar>
struct PublishHalf {
  Kokkos::View<Scalar*, Memory> place;
  Kokkos::View<int*, Memory> ready;
  KOKKOS_FUNCTION void operator()(int i) const {
    using P = Pending<Scalar>;
    P::reset(&place(i));
    reinterpret_cast<typename P::Bits*>(&place(i))[i % P::words] = 0;
    Scalar value;
    ready(i) = P::read(&place(i), value) ? 1 : 0;
  }
};

template <class Scalar>
typename Pending<Scalar>::Bits bits_of(typename Pending<Scalar>::Word word) {
  typename Pending<Scalar>::Bits bits;
  std::memcpy(&bits, &word, sizeof(bits));
  return bits;
}
template <class Scalar>
typename Pending<Scalar>::Word word_of(typename Pending<Scalar>::Bits bits) {
  typename Pending<Scalar>::Word word;
  std::memcpy(&word, &bits, sizeof(bits));
  return word;
}

template <class T>
class PendingValues : public testing::Test {};
using Scalars = testing::Types<float, double, ComplexFloat, Complex>;
TYPED_TEST_SUITE(PendingValues, Scalars);

TYPED_TEST(PendingValues, EveryValueComesBackWithItsBits) {
  using P = Pending<TypeParam>;
  using Word = typename P::Word;
  using Bits = typename P::Bits;
  using Limits = std::numeric_limits<Word>;
  std::vector<Word> words{0,
                          Word(-0.0),
                          1,
                          -1,
                          Limits::infinity(),
                          -Limits::infinity(),
                          Limits::quiet_NaN(),
                          Limits::denorm_min(),
                          Limits::max(),
                          Limits::lowest(),
                          word_of<TypeParam>(P::Traits::pending),
                          word_of<TypeParam>(P::Traits::pending ^ 1),
                          word_of<TypeParam>(~Bits(0))};
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i)
    words.push_back(word_of<TypeParam>(static_cast<Bits>(random())));
  const int n = static_cast<int>(words.size());
  using View = Kokkos::View<TypeParam*, Memory>;
  const View value("value", n), place("place", n), back("back", n);
  const Kokkos::View<int*, Memory> ready("ready", n);
  const auto word = [&](int i, int w) { return words[(i + 7 * w) % n]; };
  const auto value_host = Kokkos::create_mirror_view(value);
  for (int i = 0; i < n; ++i) {
    Word parts[P::words];
    for (int w = 0; w < P::words; ++w) parts[w] = word(i, w);
    std::memcpy(static_cast<void*>(&value_host(i)), parts, sizeof(parts));
  }
  Kokkos::deep_copy(value, value_host);
  Kokkos::parallel_for("publish", Kokkos::RangePolicy<Space>(0, n),
                       Publish<TypeParam>{value, place, back, ready});
  Kokkos::fence();
  const auto ready_host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ready);
  const auto back_host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), back);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(ready_host(i), 2) << "value " << i;
    Word parts[P::words];
    std::memcpy(parts, static_cast<const void*>(&back_host(i)), sizeof(parts));
    for (int w = 0; w < P::words; ++w) {
      const Bits given = bits_of<TypeParam>(word(i, w));
      // Only the reserved bits change, into another NaN.
      const Bits expected =
          given == P::Traits::pending ? Bits(P::Traits::plain_nan) : given;
      EXPECT_EQ(bits_of<TypeParam>(parts[w]), expected) << "value " << i;
    }
  }
}

TYPED_TEST(PendingValues, BothReservedNumbersAreQuietNaNs) {
  using P = Pending<TypeParam>;
  for (const auto bits : {P::Traits::pending, P::Traits::plain_nan}) {
    const auto word = word_of<TypeParam>(bits);
    EXPECT_NE(word, word);
    // The quiet bit is the highest of the significand.
    const int digits = std::numeric_limits<typename P::Word>::digits;
    EXPECT_EQ((bits >> (digits - 2)) & 1u, 1u);
  }
}

TYPED_TEST(PendingValues, HalfAValueIsNotReady) {
  if (Pending<TypeParam>::words == 1) return;
  const Kokkos::View<TypeParam*, Memory> place("place", 2);
  const Kokkos::View<int*, Memory> ready("ready", 2);
  Kokkos::parallel_for("publish half", Kokkos::RangePolicy<Space>(0, 2),
                       PublishHalf<TypeParam>{place, ready});
  Kokkos::fence();
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ready);
  EXPECT_EQ(host(0), 0);
  EXPECT_EQ(host(1), 0);
}

}  // namespace
