// Cutting a trace of any length into pieces of whole events.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/json.h"
#include "traces/trace_text.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

/// A text that comes in pieces of `most` bytes.
ReadText text_in_pieces(std::string text, std::size_t most) {
  return [text = std::move(text), most, at = std::size_t{0}](std::span<char> out) mutable -> Result<std::size_t> {
    const std::size_t count = std::min({most, out.size(), text.size() - at});
    std::memcpy(out.data(), text.data() + at, count);
    at += count;
    return count;
  };
}

/// All events, and that each chunk is at the byte that it names.
Result<Json> events_of(const std::string& text, std::size_t most = 1 << 30) {
  EventChunks chunks(text_in_pieces(text, most), "t.json");
  Json all = Json::array();
  for (;;) {
    const auto chunk = chunks.next();
    if (!chunk) return tl::unexpected(chunk.error());
    if (!*chunk) return all;
    const std::string json((*chunk)->json.begin(), (*chunk)->json.end());
    const auto at = static_cast<std::size_t>((*chunk)->at);
    EXPECT_EQ(json.substr(1, json.size() - 2), text.substr(at + 1, json.size() - 2));
    for (Json& event : Json::parse(json)) all.push_back(std::move(event));
  }
}

std::string error_of(const std::string& text) {
  const auto events = events_of(text);
  return events ? "no error" : events.error().what;
}

Json many_events() {
  Json events = Json::array();
  for (int i = 0; i < 30'000; ++i)
    events.push_back(
        {{"name", "a \\\" ]}, {[ \\\\" + std::to_string(i)}, {"args", {{"dims", {{1, 2}, {}}}, {"n", i}}}});
  return events;
}

TEST(EventChunks, LongTraceComesWholeInPieces) {
  const Json events = many_events();
  const std::string text = Json{{"a", "]}"}, {"traceEvents", events}, {"z", {1, {{"k", "v"}}}}}.dump();
  ASSERT_GT(text.size(), 2U << 20);
  for (const std::size_t most : {std::size_t{1} << 30, std::size_t{65'537}}) {
    const auto found = events_of(text, most);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_TRUE(*found == events);
  }
}

TEST(EventChunks, ByteOrderMarkBeforeATraceIsPassed) {
  const auto found = events_of("\xEF\xBB\xBF{\"traceEvents\": [{\"n\": 1}]}");
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->size(), 1U);
  EXPECT_THAT(error_of("\xEF\xBB\xBF x"), HasSubstr("with which a trace begins, found 'x'"));
}

TEST(EventChunks, NamesWithQuotesComeWholeInPieces) {
  std::string text = R"({"deviceProperties": [{"name": "a "b" c"}], "traceEvents": [)", right = "[";
  for (int i = 0; i < 20'000; ++i) {
    const std::string rest = R"(, "pid": 1, "args": {"n": )" + std::to_string(i) + "}},\n";
    text += R"({"name": "x["a"], {"b": "]"}(1): <f>")" + rest;
    right += R"({"name": "x['a'], {'b': ']'}(1): <f>")" + rest;
  }
  text += R"({}], "traceName": "of "me".json"})";
  const Json expected = Json::parse(right + "{}]");
  ASSERT_GT(text.size(), 1U << 20);
  for (const std::size_t most : {std::size_t{1} << 30, std::size_t{65'537}}) {
    EventChunks chunks(text_in_pieces(text, most), "t.json");
    Json all = Json::array();
    for (auto chunk = chunks.next(); chunk && *chunk; chunk = chunks.next())
      for (Json& event : Json::parse((*chunk)->json.begin(), (*chunk)->json.end())) all.push_back(std::move(event));
    EXPECT_TRUE(all == expected);
  }
}

TEST(EventChunks, ArrayAloneAndNoEventsAreRead) {
  EXPECT_EQ(events_of(" [ {\"a\":1} ,\n{\"b\":[2]} ] \n").value(), Json::parse(R"([{"a":1},{"b":[2]}])"));
  EXPECT_EQ(events_of(R"({"traceEvents":[],"x":true})").value(), Json::array());
  EXPECT_EQ(events_of(R"({"traceEvents":[{}]})", 1).value().size(), 1U);
}

TEST(EventChunks, RankIsReadFromBeforeOrBehindTheEvents) {
  for (const char* text : {R"({"distributedInfo": {"rank": 3}, "traceEvents": []})",
                           R"({"traceEvents": [], "distributedInfo": {"rank": 3}})"}) {
    EventChunks chunks(text_in_pieces(text, 7), "t.json");
    while (chunks.next().value()) {
    }
    EXPECT_EQ(chunks.distributed_info(), R"({"rank": 3})");
  }
}

TEST(EventChunks, EveryCutOfATraceIsNamedWithItsByte) {
  const std::string text = R"({"a": "b\"c", "traceEvents": [{"n": 1}, {"n": "}"}], "d": [1]})";
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_THAT(error_of(text.substr(0, size)), HasSubstr("t.json: byte " + std::to_string(size) + ": expected"))
        << size;
  EXPECT_EQ(error_of(text), "no error");
}

TEST(EventChunks, WhatIsNoTraceIsRefusedWithTheByte) {
  EXPECT_THAT(error_of("hello"), HasSubstr("byte 0: expected '{' or '[', with which a trace begins, found 'h'"));
  EXPECT_THAT(error_of(R"({"a": 1})"), HasSubstr("byte 8: expected a member \"traceEvents\""));
  EXPECT_THAT(error_of(R"({"traceEvents": {}})"), HasSubstr("byte 16: expected '['"));
  EXPECT_THAT(error_of(R"([{}}])"), HasSubstr("byte 3: expected ']', found '}'"));
  EXPECT_THAT(error_of(R"([{}] x)"), HasSubstr("byte 5: expected the file's end behind the trace, found 'x'"));
  EXPECT_THAT(error_of(R"({"a" 1})"), HasSubstr("byte 5: expected ':'"));
}

}  // namespace
}  // namespace tutti
