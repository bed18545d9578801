#include "serve/dashboard/history_text.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/json.h"
#include "view/text.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

History example() {
  History history;
  RunRecord ended{
      .id = 2, .start = {.command = "tutti batch talks", .model = "medium"}, .started = StoreTime(1'700'000'000s)};
  ended.ended = ended.started + 60s;
  ended.end = {.total = 5, .successful = 4, .failed = 1, .elapsed = Seconds(60), .audio = Seconds(1800)};
  ended.end.devices = {{.device = "GPU-1",
                        .name = "big",
                        .audio = Seconds(1500),
                        .busy = Seconds(57),
                        .idle = {{"no task", Seconds(3)}},
                        .energy_joules = 3.6e6,
                        .windows = 52},
                       {.device = "GPU-2",
                        .name = "small",
                        .audio = Seconds(300),
                        .busy = Seconds(30),
                        .idle = {{"memory", Seconds(20)}, {"no task", Seconds(10)}}}};
  RunRecord killed{.id = 1, .start = {.command = "tutti batch talks"}, .started = StoreTime(1'699'000'000s)};
  history.runs = {ended, killed};
  history.speeds = {
      {.key = {"GPU-1", "medium", "float16", 4}, .speed = 20, .samples = 1, .at = StoreTime(1'699'000'000s)},
      {.key = {"GPU-1", "medium", "float16", 4},
       .speed = 25,
       .samples = 9,
       .median_error = 0.125,
       .at = StoreTime(1'700'000'000s)}};
  history.events = {{.device = "GPU-2", .run = 2, .kind = "quarantined", .text = "3 failures in a row"}};
  return history;
}

/// The line that begins with a word.
std::string line_with(const std::vector<std::string>& lines, const std::string& word) {
  const auto found = std::ranges::find_if(lines, [&](const std::string& line) { return line.find(word) != line.npos; });
  return found == lines.end() ? "" : *found;
}

TEST(HistoryTables, RunsShowTheirResultsAndKilledRunIsMarkedNotEnded) {
  const auto lines = history_tables(example(), 200);
  EXPECT_THAT(line_with(lines, "medium  "), HasSubstr(" 30.0 "));  // 1800 s in 60 s
  EXPECT_THAT(line_with(lines, "medium  "), HasSubstr(" 4/5 ")) << "of what was asked for, earlier runs included";
  EXPECT_THAT(line_with(lines, "not ended"), HasSubstr("tutti batch talks"));
}

TEST(HistoryTables, RunOfAServiceHasAudioButNoSpeed) {
  History history = example();
  history.runs[0].end.devices.clear();
  const auto line = line_with(history_tables(history, 200), "medium  ");
  EXPECT_THAT(line, HasSubstr(" 30:00 "));
  EXPECT_THAT(line, testing::Not(HasSubstr(" 30.0 "))) << "a server's time is no time of work";
}

TEST(HistoryTables, ARunThatHadNothingToDoHasNoSpeed) {
  History history = example();
  history.runs.resize(1);
  history.runs[0].end.audio = Seconds(0);
  for (auto& use : history.runs[0].end.devices) use.audio = Seconds(0);
  for (const auto& line : history_tables(history, 200)) EXPECT_EQ(line.find("0.00"), line.npos) << line;
}

TEST(HistoryTables, DevicesShowTheirBusyShareAndWhatKeptThemIdle) {
  const auto lines = history_tables(example(), 200);
  EXPECT_THAT(line_with(lines, "big"), HasSubstr("95.0 %"));
  EXPECT_THAT(line_with(lines, "big"), HasSubstr("1.0 kWh"));
  EXPECT_THAT(line_with(lines, "small"), HasSubstr("memory (0:20)"));
  EXPECT_THAT(line_with(lines, "small"), HasSubstr(" 10.0 "));  // 300 s in 30 s
  EXPECT_THAT(line_with(lines, "float16"), HasSubstr("12.5 %"));
  EXPECT_THAT(line_with(lines, "quarantined"), HasSubstr("3 failures in a row"));
}

TEST(HistoryTables, SingleRunEndsWithCurrentRecordingCounts) {
  History history = example();
  history.runs.resize(1);
  history.runs[0].start.batch = "/out";
  history.now = JobCounts{.queued = 3, .done = 40, .dead = 2};
  EXPECT_EQ(history_tables(history, 200).back(), "Recordings of /out as of now: 40 done, 2 failed, 3 waiting");
  const auto json = nlohmann::json::parse(history_json(history));
  EXPECT_EQ(json["recordings_now"]["failed"], 2);
  EXPECT_TRUE(nlohmann::json::parse(history_json(example()))["recordings_now"].is_null());
}

TEST(HistoryTables, AreAsNarrowAsTheTerminal) {
  const auto widest = [](std::size_t terminal) {
    std::size_t columns = 0;
    for (const auto& line : history_tables(example(), terminal)) columns = std::max(columns, columns_of(line));
    return columns;
  };
  EXPECT_GT(widest(200), 60U);
  EXPECT_LE(widest(60), 60U);
  EXPECT_GT(widest(60), 0U);
}

TEST(HistoryJson, NumbersAreNumbersAndAbsentIsNull) {
  const auto json = nlohmann::json::parse(history_json(example()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["runs"][0]["devices"][0]["energy_joules"], 3.6e6);
  EXPECT_TRUE(json["runs"][0]["devices"][1]["energy_joules"].is_null());
  EXPECT_EQ(json["runs"][0]["devices"][0]["windows"].dump(), "52");
  EXPECT_TRUE(json["runs"][0]["devices"][1]["windows"].is_null());
  EXPECT_TRUE(json["runs"][1]["ended_unix_seconds"].is_null());
  EXPECT_TRUE(json["runs"][1]["audio_seconds"].is_null());
  EXPECT_EQ(json["speeds"][1]["audio_seconds_per_second"], 25);
  EXPECT_EQ(json["events"][0]["kind"], "quarantined");
}

TEST(HistoryPicture, HasALineForEveryDeviceAndForWholeRuns) {
  const std::string svg = history_svg(example());
  EXPECT_THAT(svg, HasSubstr("whole runs"));
  EXPECT_THAT(svg, HasSubstr("GPU-2 (small), by run"));
  EXPECT_THAT(svg, HasSubstr("GPU-1, medium float16, 4 at once"));
}

}  // namespace
}  // namespace tutti
