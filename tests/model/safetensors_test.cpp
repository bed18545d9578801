#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/damage.h"
#include "model/formats/formats.h"

namespace tutti {
namespace {

using testing::HasSubstr;

Result<std::vector<StoredTensor>> parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file)));
}

std::string error_of(const std::string& header, const std::string& data) {
  const auto parsed = parse(safetensors_of(header, data));
  return parsed ? "accepted" : parsed.error().what;
}

TEST(Safetensors, TensorHasItsNameTypeShapeAndBytes) {
  const auto file = safetensors_of(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F16","shape":[2],"data_offsets":[4,8]},"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
      "wxyzabcd");
  const auto tensors = parse(file);
  ASSERT_TRUE(tensors) << tensors.error().text();
  ASSERT_EQ(tensors->size(), 2u);
  const auto& b = (*tensors)[0].name == "b" ? (*tensors)[0] : (*tensors)[1];
  EXPECT_EQ(b.type, ElementType::f16);
  EXPECT_EQ(b.shape, std::vector<std::int64_t>{2});
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(b.bytes.data()), b.bytes.size()), "abcd");
}

TEST(Safetensors, ATruncatedFileIsAnErrorThatNamesTheTensorCutOff) {
  EXPECT_THAT(error_of(R"({"a.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234567"),
              HasSubstr("'a.weight': its data ends at byte 8 but the file has 7"));
}

TEST(Safetensors, AShapeThatDoesNotFitItsBytesIsAnErrorWithBoth) {
  EXPECT_THAT(error_of(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678"),
              HasSubstr("F32 [3] does not take 8 bytes"));
}

TEST(Safetensors, AProductOfSizesThatOverflowsIsNotTakenForASmallOne) {
  EXPECT_THAT(error_of(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", ""),
              HasSubstr("does not take 0 bytes"));
}

TEST(Safetensors, SizesMustBeWholeNumbers) {
  const auto answer = [](const std::string& size) {
    return error_of(R"({"a":{"dtype":"F32","shape":[)" + size + R"(],"data_offsets":[0,4]}})", "1234");
  };
  EXPECT_EQ(answer("1"), "accepted");
  for (const char* size : {"-1", "1.5", "null", "\"2\"", "1e400", "NaN"}) EXPECT_NE(answer(size), "accepted") << size;
}

TEST(Safetensors, OverlapsAndGapsAreErrors) {
  const auto two = [](const char* at) {
    return std::string(
               R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":)") +
           at + "}}";
  };
  EXPECT_EQ(error_of(two("[4,8]"), "12345678"), "accepted");
  EXPECT_THAT(error_of(two("[3,7]"), "1234567"), HasSubstr("'b': its data overlaps"));
  EXPECT_THAT(error_of(two("[5,9]"), "123456789"), HasSubstr("'b': its data leaves a gap"));
  EXPECT_THAT(error_of(two("[4,8]"), "123456789"), HasSubstr("1 bytes after the last tensor"));
}

TEST(Safetensors, AHeaderLongerThanTheFileIsAnErrorAndNoAllocation) {
  std::string file(8, '\xff');
  EXPECT_THAT(parse(file + "{}").error().what, HasSubstr("the header claims 18446744073709551615 bytes"));
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse("1234567"));
}

TEST(Safetensors, AHeaderThatIsNoJsonObjectIsAnError) {
  EXPECT_THAT(error_of("[]", ""), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of(R"({"a":)", ""), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of(R"({"a":3})", ""), HasSubstr("'a'"));
}

TEST(Safetensors, AnUnknownElementTypeIsNamed) {
  EXPECT_THAT(error_of(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "1"), HasSubstr("F8_E4M3"));
}

}  // namespace
}  // namespace tutti
