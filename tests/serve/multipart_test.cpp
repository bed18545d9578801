#include "serve/http/multipart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Remembers every part as "name|filename|type|content".
struct Parts final : FormSink {
  Result<void> begin(const FormPart& part) override {
    all.push_back(part.name + "|" + part.filename.value_or("-") + "|" + part.type + "|");
    return {};
  }
  Result<void> take(std::string_view bytes) override {
    all.back() += bytes;
    return {};
  }
  Result<void> end() override {
    ++ended;
    return {};
  }
  std::vector<std::string> all{};
  std::size_t ended = 0;
};

const std::string kForm =
    "preamble\r\n--XX\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n"
    "--XX  \r\nContent-Type: audio/wav\r\ncontent-disposition: form-data; name=file; filename=\"a "
    "\\\"b\\\".wav\"\r\n\r\n"
    "\r\n--X\r\n--\r\n\r\n--XX\r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n--XX--\r\nepilogue";

Result<void> read_in_pieces(const std::string& body, std::size_t size, Parts& parts) {
  MultipartReader reader("XX", parts);
  for (std::size_t at = 0; at < body.size(); at += size)
    if (auto fed = reader.feed(std::string_view(body).substr(at, size)); !fed) return fed;
  return reader.finish();
}

std::string error_of(const std::string& body) {
  Parts parts;
  const auto read = read_in_pieces(body, 7, parts);
  return read ? "" : read.error().what;
}

}  // namespace

TEST(Multipart, PartsAreTheSameInPiecesOfAnySize) {
  for (std::size_t size = 1; size <= kForm.size(); ++size) {
    Parts parts;
    ASSERT_TRUE(read_in_pieces(kForm, size, parts)) << size;
    EXPECT_THAT(parts.all,
                ElementsAre("model|-||whisper-1", "file|a \"b\".wav|audio/wav|\r\n--X\r\n--\r\n", "empty|-||"))
        << size;
    EXPECT_EQ(parts.ended, 3U);
  }
}

TEST(Multipart, BodyCutShortIsRefused) {
  EXPECT_THAT(error_of(kForm.substr(0, kForm.size() - 20)), HasSubstr("ends before its last boundary"));
  EXPECT_THAT(error_of(""), HasSubstr("ends before its last boundary"));
}

TEST(Multipart, PartWithoutANameIsRefused) {
  EXPECT_THAT(error_of("--XX\r\nContent-Type: text/plain\r\n\r\nx\r\n--XX--"), HasSubstr("has no name"));
  EXPECT_THAT(error_of("--XX\r\nno colon\r\n\r\nx\r\n--XX--"), HasSubstr("without a colon"));
}

TEST(Multipart, EndlessHeadersAreRefused) {
  EXPECT_THAT(error_of("--XX\r\nContent-Disposition: " + std::string(20000, 'a')), HasSubstr("too long"));
  EXPECT_THAT(error_of("--XX" + std::string(20000, ' ')), HasSubstr("does not end"));
}

TEST(Multipart, TooManyPartsAreRefused) {
  std::string body;
  for (int i = 0; i < 600; ++i) body += "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n";
  EXPECT_THAT(error_of(body), HasSubstr("more than 512 parts"));
}

TEST(Multipart, BoundaryIsReadFromTheContentType) {
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=abc").value(), "abc");
  EXPECT_EQ(boundary_of("Multipart/Form-Data; charset=x; Boundary=\"a b\"").value(), "a b");
  EXPECT_FALSE(boundary_of("multipart/form-data"));
  EXPECT_FALSE(boundary_of("multipart/form-data; boundary=" + std::string(71, 'x')));
  EXPECT_THAT(boundary_of("application/json").error().what, HasSubstr("'application/json'"));
}
