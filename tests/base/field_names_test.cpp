#include "base/field_names.h"

#include <gtest/gtest.h>

#include <thread>

namespace tutti {
namespace {

TEST(FieldNames, LibraryNamesFieldsUnlessItsProgramHasFlags) {
  EXPECT_EQ(field("batch_size"), "batch_size");
  set_field_names(FieldNames::flags);
  EXPECT_EQ(field("batch_size"), "--batch-size");
  EXPECT_EQ(field("device"), "--device");
}

TEST(FieldNames, ScopeCoversItsThreadAloneAndEnds) {
  set_field_names(FieldNames::flags);
  {
    const FieldNamesScope service(FieldNames::fields);
    EXPECT_EQ(field("beam_size"), "beam_size");
    std::thread([] { EXPECT_EQ(field("beam_size"), "--beam-size"); }).join();
    {
      const FieldNamesScope inner(FieldNames::flags);
      EXPECT_EQ(field("beam_size"), "--beam-size");
    }
    EXPECT_EQ(field("beam_size"), "beam_size");
  }
  EXPECT_EQ(field("beam_size"), "--beam-size");
}

}  // namespace
}  // namespace tutti
