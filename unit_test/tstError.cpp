// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Error.hpp>
#include <type_traits>

namespace {

using namespace Strata;

TEST(Error, HoldsFieldsAndMessage) {
  const Error e("values", "has 3 elements, not 4", "give one a stored entry");
  EXPECT_EQ(e.argument(), "values");
  EXPECT_EQ(e.problem(), "has 3 elements, not 4");
  EXPECT_EQ(e.remedy(), "give one a stored entry");
  EXPECT_STREQ(e.what(),
               "Strata: values: has 3 elements, not 4; give one a stored "
               "entry");
}

template <class E>
class MatrixErrors : public testing::Test {};
using MatrixErrorTypes =
    testing::Types<NotSquareError, RowMapError, ColumnRangeError,
                   UnsortedRowError, DuplicateEntryError, WrongTriangleError,
                   MissingDiagonalError, ZeroDiagonalError, PermutationError,
                   PatternMismatchError, PrecisionError>;
TYPED_TEST_SUITE(MatrixErrors, MatrixErrorTypes);

TYPED_TEST(MatrixErrors, NameRowAndValue) {
  try {
    throw TypeParam("L", "row 7 is at fault", "mend row 7", 7, "-3");
  } catch (const MatrixError& e) {
    EXPECT_EQ(e.argument(), "L");
    EXPECT_EQ(e.problem(), "row 7 is at fault");
    EXPECT_EQ(e.remedy(), "mend row 7");
    EXPECT_EQ(e.row(), 7);
    EXPECT_EQ(e.value(), "-3");
    EXPECT_STREQ(e.what(), "Strata: L: row 7 is at fault; mend row 7");
  }
}

TYPED_TEST(MatrixErrors, HaveNoRowUnlessOneIsNamed) {
  const TypeParam e("L", "problem", "remedy");
  EXPECT_EQ(e.row(), -1);
  EXPECT_EQ(e.value(), "");
}

TYPED_TEST(MatrixErrors, AreOneFamilyOfDistinctTypes) {
  static_assert(std::is_base_of<MatrixError, TypeParam>::value, "");
  static_assert(!std::is_same<MatrixError, TypeParam>::value, "");
  EXPECT_THROW(throw TypeParam("L", "p", "r"), MatrixError);
  EXPECT_THROW(throw TypeParam("L", "p", "r"), Error);
  EXPECT_THROW(throw TypeParam("L", "p", "r"), std::runtime_error);
}

template <class E>
class PlainErrors : public testing::Test {};
using PlainErrorTypes = testing::Types<SizeMismatchError, IndexOverflowError,
                                       OptionError, PartitionError>;
TYPED_TEST_SUITE(PlainErrors, PlainErrorTypes);

TYPED_TEST(PlainErrors, NameArgumentProblemAndRemedy) {
  try {
    throw TypeParam("b", "has extent 3, not 4", "make it as long as A");
  } catch (const Error& e) {
    EXPECT_EQ(e.argument(), "b");
    EXPECT_EQ(e.problem(), "has extent 3, not 4");
    EXPECT_EQ(e.remedy(), "make it as long as A");
    EXPECT_STREQ(e.what(),
                 "Strata: b: has extent 3, not 4; make it as long as A");
    EXPECT_EQ(dynamic_cast<const MatrixError*>(&e), nullptr);
  }
}

TEST(FileError, NamesTheLineWhereThereIsOne) {
  const FileError with("a.mtx", "expected a number", "mend the line", 12);
  EXPECT_EQ(with.line(), 12);
  EXPECT_EQ(with.argument(), "a.mtx");
  EXPECT_EQ(with.problem(), "line 12: expected a number");
  EXPECT_STREQ(with.what(),
               "Strata: a.mtx: line 12: expected a number; mend the line");

  const FileError without("a.mtx", "can't be opened", "check the path");
  EXPECT_EQ(without.line(), -1);
  EXPECT_STREQ(without.what(),
               "Strata: a.mtx: can't be opened; check the path");
  EXPECT_THROW(throw without, Error);
}

TEST(Error, PlanMemoryErrorHoldsBothNumbers) {
  const PlanMemoryError e("max_plan_bytes", "is too little", "allow more", 300,
                          256);
  EXPECT_EQ(e.needed(), 300u);
  EXPECT_EQ(e.allowed(), 256u);
  EXPECT_STREQ(e.what(), "Strata: max_plan_bytes: is too little; allow more");
}

TEST(Error, MemoryErrorHoldsItsNumbers) {
  const MemoryError e("memory", "8 bytes can't be allocated", "free some", 8, 4,
                      16);
  EXPECT_EQ(e.needed(), 8u);
  EXPECT_EQ(e.free(), 4u);
  EXPECT_EQ(e.total(), 16u);
  EXPECT_STREQ(e.what(),
               "Strata: memory: 8 bytes can't be allocated; free some");
}

}  // namespace
