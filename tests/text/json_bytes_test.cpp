#include "text/json_bytes.h"

#include <gtest/gtest.h>

#include "text/byte_order_mark.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonBytes, ANameThatIsNotUtf8IsEscapedAndReadBack) {
  for (const std::string& name :
       {std::string("caf\xE9.wav"), std::string("\xFF\xFE"), std::string("\xC3"), std::string("plain"),
        std::string("\xEF\xB7\x90 caf\xE9"), std::string("\xED\xB3\xA9"), std::string("a\\udce9\xE9")}) {
    const std::string text = json_keeping_bytes(Json{{"path", name}, {"list", {name, 1}}});
    EXPECT_EQ(text.find('\xE9'), std::string::npos);
    const Json read = parse_json_keeping_bytes<Json>(text);
    ASSERT_FALSE(read.is_discarded()) << text;
    EXPECT_EQ(read["path"], name);
    EXPECT_EQ(read["list"][0], name);
  }
  EXPECT_EQ(json_keeping_bytes(Json{{"path", "caf\xE9"}}), R"({"path":"caf\udce9"})") << "as Python writes it";
  EXPECT_EQ(json_keeping_bytes(Json{{"path", "caf\u00e9"}}), "{\"path\":\"caf\u00e9\"}");
}

TEST(JsonBytes, RawBytesInADocumentAreKeptToo) {
  EXPECT_EQ(parse_json_keeping_bytes<Json>("{\"path\": \"caf\xE9\"}")["path"], "caf\xE9");
  EXPECT_EQ(parse_json_keeping_bytes<Json>(R"(["\ud83d\ude00\udce9"])")[0], "\xF0\x9F\x98\x80\xE9");
  EXPECT_EQ(parse_json_keeping_bytes<Json>(R"(["\\udce9"])")[0], "\\udce9") << "an escaped backslash";
  EXPECT_TRUE(parse_json_keeping_bytes<Json>("{\"path\": caf\xE9}").is_discarded());
  EXPECT_TRUE(parse_json_keeping_bytes<Json>("\"\\udce9").is_discarded());
}

TEST(Utf16, IsReadInEitherOrderOfBytes) {
  EXPECT_EQ(utf8_of_utf16(std::string("\xFF\xFE"
                                      "a\0\xE4\0",
                                      6)),
            "a\u00e4");
  EXPECT_EQ(utf8_of_utf16(std::string("\xFE\xFF"
                                      "\0a\xD8\x3D\xDE\x00",
                                      8)),
            "a\U0001F600");
  EXPECT_EQ(utf8_of_utf16(std::string("\xFF\xFE"
                                      "a\0b",
                                      5)),
            "a\uFFFD");
  EXPECT_EQ(utf8_of_utf16("plain"), std::nullopt);
}

}  // namespace
}  // namespace tutti
