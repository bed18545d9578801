// Names of Python code that a profiler wrote as they are, and bytes that no text may have.

#include "traces/event_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

/// The text of one event whose name is written as it is, and what is scanned of it as the events' array.
std::string event_with(const std::string& name, bool name_is_last = false) {
  return name_is_last ? R"({"ts": 7, "dur": 3, "name": ")" + name + "\"}"
                      : R"({"ph": "X", "name": ")" + name + R"(", "pid": 10, "ts": 7, "args": {"Python id": 1}})";
}

/// The first event of two with that name, mended.
Json mended(const std::string& name, bool name_is_last) {
  std::string text = event_with(name, name_is_last) + ",\n " + event_with("next", name_is_last) + "\n]";
  const EventScan found = scan_events(text, true);
  EXPECT_TRUE(found.is_last);
  EXPECT_EQ(found.end, text.size() - 1) << text;
  clean_bytes(text);
  const Json events = Json::parse("[" + text, nullptr, false);
  if (events.is_discarded() || events.size() != 2) return text;
  EXPECT_EQ(events[1]["name"], "next");
  return events[0];
}

TEST(EventScan, NamesThatWereWrittenAsTheyAreEndAtTheirQuote) {
  const std::vector<std::pair<std::string, std::string>> names{
      {R"(_t = Library("_test", "IMPL"))", "_t = Library('_test', 'IMPL')"},
      {"_t = Library(\"_test\", \"IMPL\")\n(1): <module>", "_t = Library('_test', 'IMPL') (1): <module>"},
      {R"("a")", "'a'"},
      {R"(x["k"], y["l"])", "x['k'], y['l']"},
      {R"({"a": "b", "c": 1}(1): <module>)", "{'a': 'b', 'c': 1}(1): <module>"},
      {R"({"pid": 1, "ts": 2}(3): f)", "{'pid': 1, 'ts': 2}(3): f"},
      {R"x(f("}"), g("]"), {"["))x", "f('}'), g(']'), {'[')"},
      {"a\tb\x01\x1f c", "a b   c"},
      {"\xff\xc0\x80 \xed\xa0\x80 \xf5", "??? ??? ?"},
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"odd \" quote", "odd ' quote"},
      {R"(in \"quotes\" and \\)", R"(in "quotes" and \)"},
      {R"(\ud800 alone)", ""}};
  for (const auto& [name, right] : names)
    for (const bool is_last : {false, true}) {
      const Json event = mended(name, is_last);
      if (right.empty()) continue;  // JSON's reader refuses it, and the trace's does not look
      ASSERT_TRUE(event.is_object()) << name << "\n" << event;
      EXPECT_EQ(event["name"], right);
      EXPECT_EQ(event["ts"], 7);
    }
}

TEST(EventScan, BackslashAtATextsEndEscapesNoQuote) {
  EXPECT_EQ(mended(R"(C:\)", false)["name"], "C:/");
  EXPECT_EQ(mended(R"({\"pid\": \"1\", \"ts\": 2})", false)["name"], R"({"pid": "1", "ts": 2})");
}

TEST(EventScan, NoByteMovesAndWellWrittenTextStays) {
  std::string text =
      R"({"z": {"k": ["a", "b\"c", 1, {}], "e": ""}, "own": "x", "other": true, "third": -1.5e3, "name": "n"},
      {}, {"name": "o", "args": {"list": [[], ["x"]]}}])";
  const std::string before = text;
  const EventScan found = scan_events(text, true);
  EXPECT_EQ(text, before);
  EXPECT_TRUE(found.is_last);
  EXPECT_EQ(found.end, text.size() - 1);
}

TEST(EventScan, EventsEndAtTheSameByteWhereverTheTextIsCut) {
  const std::string name = "m = {\"a\": [\"b\", 'c']}\n(1): \"<module>\"";
  const std::string first = event_with(name), whole = first + ", " + event_with("x") + " ]";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string text = whole.substr(0, size);
    const EventScan found = scan_events(text, false);
    if (found.end == 0) continue;
    EXPECT_FALSE(found.is_last);
    EXPECT_TRUE(found.end == first.size() || found.end == whole.size() - 2) << size << ": " << found.end;
  }
}

}  // namespace
}  // namespace tutti
