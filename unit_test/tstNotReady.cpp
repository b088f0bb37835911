// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <core/device/NotReady.hpp>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "Scalars.hpp"

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Strata::Detail::NotReady;
using Complex = Kokkos::complex<double>;
using ComplexFloat = Kokkos::complex<float>;

/// Publishes value i at place i and reads it back; `ready` gets two bits:
/// before and after.
template <class Scalar>
struct Publish {
  Kokkos::View<Scalar*, Memory> value, place, back;
  Kokkos::View<int*, Memory> ready;
  KOKKOS_FUNCTION void operator()(int i) const {
    NotReady<Scalar>::reset(&place(i));
    ready(i) = NotReady<Scalar>::read(&place(i), back(i)) ? 1 : 0;
    NotReady<Scalar>::publish(&place(i), value(i));
    if (NotReady<Scalar>::read(&place(i), back(i))) ready(i) |= 2;
  }
};

/// Asks about value i as it is, makes it final, publishes that at place i and
/// loads it from there.
template <class Scalar>
struct Ask {
  Kokkos::View<Scalar*, Memory> value, place, final, back;
  Kokkos::View<int*, Memory> is, ready;
  KOKKOS_FUNCTION void operator()(int i) const {
    using P = NotReady<Scalar>;
    is(i) = P::is_not_ready(value(i));
    final(i) = P::final(value(i));
    P::reset(&place(i));
    ready(i) = P::is_not_ready(P::load(&place(i)));
    P::publish(&place(i), value(i));
    if (P::read(&place(i), back(i))) ready(i) |= 2;
    if (!P::is_not_ready(P::load(&place(i)))) ready(i) |= 4;
  }
};

/// Stores only one word of a value that has two.
template <class Scalar>
struct PublishHalf {
  Kokkos::View<Scalar*, Memory> place;
  Kokkos::View<int*, Memory> ready;
  KOKKOS_FUNCTION void operator()(int i) const {
    using P = NotReady<Scalar>;
    P::reset(&place(i));
    reinterpret_cast<typename P::Bits*>(&place(i))[i % P::words] = 0;
    Scalar value;
    ready(i) = P::read(&place(i), value) ? 1 : 0;
  }
};

template <class Scalar>
typename NotReady<Scalar>::Bits bits_of(typename NotReady<Scalar>::Word word) {
  typename NotReady<Scalar>::Bits bits;
  std::memcpy(&bits, &word, sizeof(bits));
  return bits;
}
template <class Scalar>
typename NotReady<Scalar>::Word word_of(typename NotReady<Scalar>::Bits bits) {
  typename NotReady<Scalar>::Word word;
  std::memcpy(&word, &bits, sizeof(bits));
  return word;
}

/// Ordinary numbers, special ones, those like the reserved ones, and any bits.
template <class Scalar>
std::vector<typename NotReady<Scalar>::Word> words_of_all_kinds() {
  using P = NotReady<Scalar>;
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
                          word_of<Scalar>(P::Traits::not_ready),
                          word_of<Scalar>(P::Traits::not_ready ^ 1),
                          word_of<Scalar>(P::Traits::plain_nan),
                          word_of<Scalar>(~Bits(0))};
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i)
    words.push_back(word_of<Scalar>(static_cast<Bits>(random())));
  return words;
}

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

template <class T>
class NotReadyValues : public testing::Test {};
using Scalars = testing::Types<float, double, ComplexFloat, Complex>;
TYPED_TEST_SUITE(NotReadyValues, Scalars);

TYPED_TEST(NotReadyValues, EveryValueComesBackWithItsBits) {
  using P = NotReady<TypeParam>;
  using Word = typename P::Word;
  using Bits = typename P::Bits;
  const auto words = words_of_all_kinds<TypeParam>();
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
          given == P::Traits::not_ready ? Bits(P::Traits::plain_nan) : given;
      EXPECT_EQ(bits_of<TypeParam>(parts[w]), expected) << "value " << i;
    }
  }
}

TYPED_TEST(NotReadyValues, NotReadyAndNanAreToldFromEachOtherAndFromNumbers) {
  using P = NotReady<TypeParam>;
  using Bits = typename P::Bits;
  const auto words = words_of_all_kinds<TypeParam>();
  const int n = static_cast<int>(words.size());
  // Of a complex number each part is each kind of word next to a plain 1, and
  // some are two words of any kind.
  std::vector<std::array<Bits, P::words>> bits;
  for (int i = 0; i < n; ++i)
    for (int w = 0; w < P::words; ++w) {
      std::array<Bits, P::words> parts;
      parts.fill(bits_of<TypeParam>(1));
      parts[w] = bits_of<TypeParam>(words[i]);
      bits.push_back(parts);
      for (auto& part : parts)
        part = bits_of<TypeParam>(words[(i + 5 * (&part - &parts[0])) % n]);
      bits.push_back(parts);
    }
  const int m = static_cast<int>(bits.size());
  using View = Kokkos::View<TypeParam*, Memory>;
  using Flags = Kokkos::View<int*, Memory>;
  const Ask<TypeParam> ask{View("value", m), View("place", m),
                           View("final", m), View("back", m),
                           Flags("is", m),   Flags("ready", m)};
  const auto value = Kokkos::create_mirror_view(ask.value);
  std::memcpy(static_cast<void*>(value.data()), bits.data(),
              m * sizeof(TypeParam));
  Kokkos::deep_copy(ask.value, value);
  Kokkos::parallel_for("ask", Kokkos::RangePolicy<Space>(0, m), ask);
  Kokkos::fence();
  const auto is = on_host(ask.is), ready = on_host(ask.ready);
  const auto final = on_host(ask.final), back = on_host(ask.back);
  for (int i = 0; i < m; ++i) {
    bool not_ready = false;
    auto expected = bits[i];
    for (Bits& b : expected) {
      not_ready = not_ready || b == P::Traits::not_ready;
      if (b == P::Traits::not_ready) b = P::Traits::plain_nan;
    }
    EXPECT_EQ(is(i), not_ready) << "value " << i;
    EXPECT_EQ(std::memcmp(&final(i), &expected, sizeof(expected)), 0);
    EXPECT_EQ(std::memcmp(&back(i), &expected, sizeof(expected)), 0);
    EXPECT_EQ(ready(i), 7) << "value " << i;
  }
}

TYPED_TEST(NotReadyValues, BothReservedNumbersAreQuietNaNs) {
  using P = NotReady<TypeParam>;
  for (const auto bits : {P::Traits::not_ready, P::Traits::plain_nan}) {
    const auto word = word_of<TypeParam>(bits);
    EXPECT_NE(word, word);
    // The quiet bit is the highest of the significand.
    const int digits = std::numeric_limits<typename P::Word>::digits;
    EXPECT_EQ((bits >> (digits - 2)) & 1u, 1u);
  }
}

TYPED_TEST(NotReadyValues, AreTheReservedOnesOfOtherTests) {
  TypeParam value;
  NotReady<TypeParam>::reset(&value);
  const auto reserved = reserved_nan<TypeParam>();
  EXPECT_EQ(std::memcmp(&reserved, &value, sizeof value), 0);
}

TYPED_TEST(NotReadyValues, HalfAValueIsNotReady) {
  if (NotReady<TypeParam>::words == 1) return;
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
