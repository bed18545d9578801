#include "base/instruction_sets.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

using enum Instructions;

constexpr Instructions kAll[] = {none, avx2, avxvnni, avx512, vnni, bf16, amx};

TEST(InstructionSets, NamesAndSetsAreOneToOne) {
  for (const auto set : kAll) EXPECT_EQ(instructions_named(name_of(set)), set) << name_of(set);
  EXPECT_FALSE(instructions_named("AVX2"));
  EXPECT_FALSE(instructions_named(""));
}

TEST(InstructionSets, LimitLeavesWhatIsBelowIt) {
  const InstructionSets server{avx2, avx512, vnni, bf16, amx};
  EXPECT_EQ(limited_instructions(server, "amx").value(), server);
  EXPECT_EQ(limited_instructions(server, "vnni").value(), (InstructionSets{avx2, avx512, vnni}));
  EXPECT_EQ(limited_instructions(server, "avx2").value(), InstructionSets{avx2});
  EXPECT_EQ(limited_instructions(server, "none").value(), InstructionSets{});
}

TEST(InstructionSets, LimitAddsNothingThatIsAbsentBelowIt) {
  const InstructionSets cascade_lake{avx2, avx512, vnni};  // no AVX-VNNI
  EXPECT_EQ(limited_instructions(cascade_lake, "avx512").value(), (InstructionSets{avx2, avx512}));
  const InstructionSets laptop{avx2, avxvnni};
  EXPECT_EQ(limited_instructions(laptop, "avxvnni").value(), laptop);
}

TEST(InstructionSets, SetThatIsAbsentIsRefusedByName) {
  const InstructionSets cascade_lake{avx2, avx512, vnni};
  for (const char* absent : {"avxvnni", "bf16", "amx"}) {
    const auto limited = limited_instructions(cascade_lake, absent);
    ASSERT_FALSE(limited) << absent;
    EXPECT_EQ(limited.error().fault, Fault::usage);
    EXPECT_NE(limited.error().what.find(std::string("TUTTI_INSTRUCTIONS=") + absent), std::string::npos);
    EXPECT_NE(limited.error().hint.find("avx2, avx512, vnni"), std::string::npos);
  }
  EXPECT_FALSE(limited_instructions(InstructionSets{}, "avx2"));
  EXPECT_TRUE(limited_instructions(InstructionSets{}, "none"));
}

TEST(InstructionSets, UnknownWordIsRefusedWithTheNames) {
  for (const char* word : {"sse", "AVX2", "avx2,vnni", "dot512"}) {
    const auto limited = limited_instructions({avx2}, word);
    ASSERT_FALSE(limited) << word;
    EXPECT_EQ(limited.error().fault, Fault::usage);
    EXPECT_NE(limited.error().text().find(word), std::string::npos);
    for (const auto set : kAll) EXPECT_NE(limited.error().hint.find(name_of(set)), std::string::npos);
  }
}

TEST(InstructionSets, ProcessorHasWhatItsSetsAreBuiltOn) {
  const auto& found = processor_instructions();
  for (const auto set : found.all()) EXPECT_TRUE(found.has(avx2)) << name_of(set);
  for (const auto set : {vnni, bf16, amx}) EXPECT_TRUE(!found.has(set) || found.has(avx512)) << name_of(set);
  EXPECT_TRUE(!found.has(amx) || (found.has(vnni) && found.has(bf16)));
}

}  // namespace
}  // namespace tutti
