#include <gmock/gmock.h>

#include "metrics/prometheus.h"
#include "view/fleet/fleet_status.h"
#include "view/fleet/fleet_table.h"
#include "view/text.h"

using namespace tutti;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

DeviceStatus device(std::string id, std::string state = "healthy") {
  DeviceStatus d{.id = std::move(id), .name = "NVIDIA GeForce RTX 4070", .state = std::move(state)};
  d.jobs = 3;
  d.most_jobs = 5;
  d.own_load = 0.45;
  d.foreign_load = 0.0;
  d.own_memory = Bytes{6'100'000'000};
  d.total_memory = Bytes{12'000'000'000};
  d.speed = 31.2;
  d.watts = 180;
  d.busy_share = 0.92;
  return d;
}

FleetStatus lectures() {
  FleetStatus s{.run = "lectures"};
  s.elapsed = Seconds(725);
  s.jobs = 40;
  s.done = 12;
  s.failed = 1;
  s.running = 4;
  s.audio_done = Seconds(3 * 3600);
  s.audio_total = Seconds(8 * 3600);
  s.left = Seconds(520);
  s.left_error = Seconds(70);
  s.next_device = "cuda:1";
  s.devices = {device("cuda:0"), device("cuda:1", "open")};
  s.devices[1].reason = "3 failures in a row";
  s.devices[1].since = Seconds(12);
  s.in_work = {{.name = "日本語の講義.mp3", .device = "cuda:0", .done = Seconds(60), .length = Seconds(120)},
               {.name = "waiting.mp3", .waiting_for = "needs 5.1 GB"}};
  s.failures = {{.name = "broken.mp3", .error = "no audio in it", .device = "cuda:0", .attempts = 2}};
  return s;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const auto& line : lines) all += line + "\n";
  return all;
}

}  // namespace

/// The metrics as a scrape has them, of a batch with this finding.
std::string scraped(const std::string& finding) {
  FleetStatus status{.run = "lectures"};
  status.finding = finding;
  return prometheus_text(fleet_metrics({status}));
}

TEST(FleetMetrics, LimitStaysOneSeriesWhileItsShareChanges) {
  const auto early = scraped("What limits the run: waiting for input 34 % of the time; without that 12 % less.");
  EXPECT_THAT(early, HasSubstr("tutti_run_limit_info{run=\"lectures\",limit=\"waiting for input\"} 1"));
  EXPECT_EQ(early, scraped("What limits the run: waiting for input 5 % of the time; without that 2 % less."));
  EXPECT_THAT(scraped("What limits the run: the devices, at work nearly all the time; without that it is less."),
              HasSubstr("limit=\"the devices, at work nearly all the time\""));
  EXPECT_THAT(scraped(""), Not(HasSubstr("tutti_run_limit_info")));
}

TEST(FleetTable, AnOrdinaryTerminalShowsEverythingThatMatters) {
  const auto lines = render_fleet(lectures(), {.columns = 80, .lines = 24});
  const std::string all = joined(lines);
  for (const auto& line : lines) EXPECT_EQ(columns_of(line), 80U) << line;
  EXPECT_LE(lines.size(), 24U);
  for (const char* part : {"12/40 done, 1 failed, 4 running, 23 waiting", "running for 12:05", "38 %",
                           "8:40 ± 1:10 left", "3:00:00 of 8:00:00 audio", "14.9 audio h/h", "next task: cuda:1",
                           "healthy", "3/5", "45 %", "6.1/12.0 GB", "31.2×", "92 %", "└ 3 failures in a row, for 0:12",
                           "日本語の講義.mp3", "1:00/2:00", "needs 5.1 GB", "cuda:0: no audio in it (2 attempts)"})
    EXPECT_THAT(all, HasSubstr(part));
}

TEST(FleetTable, HealthyDeviceShowsNoReason) {
  FleetStatus s = lectures();
  s.devices[0].state = "healthy";
  s.devices[0].reason = "a piece succeeded";
  EXPECT_THAT(joined(render_fleet(s, {.columns = 80, .lines = 24})), Not(HasSubstr("a piece succeeded")));
  s.devices[0].state = "warming";
  EXPECT_THAT(joined(render_fleet(s, {.columns = 80, .lines = 24})), HasSubstr("└ a piece succeeded"));
}

TEST(FleetTable, NamesAreNotCutForLongReasonsAndManyDevices) {
  FleetStatus s = lectures();
  const std::string everywhere = "cuda:0,cuda:1,cuda:2,cuda:3,cuda:4,cuda:5,cuda:6,cuda:7,cuda:8";
  s.in_work = {{.name = "lecture-27.wav", .device = everywhere, .length = Seconds(120)},
               {.name = "lecture-28.wav", .waiting_for = "needs 1.5 GB of memory; 1.0 GB are free"}};
  EXPECT_THAT(joined(render_fleet(s, {.columns = 80, .lines = 24})),
              AllOf(HasSubstr("lecture-27.wav"), HasSubstr("lecture-28.wav"), HasSubstr("cuda:0,cuda:1,cuda:2"),
                    HasSubstr("needs 1.5 GB of memory")));
  s.in_work[0].name = "A lecture on everything that there is to be said of the lakes.mp3";
  EXPECT_THAT(joined(render_fleet(s, {.columns = 80, .lines = 24})),
              AllOf(HasSubstr("A lecture on every"), HasSubstr("cuda:0,cuda:1,cuda")))
      << "where both are long, both are cut";
}

TEST(FleetTable, EveryTerminalIsFilledExactlyAndNeverOverrun) {
  FleetStatus many = lectures();
  for (int i = 2; i < 20; ++i) many.devices.push_back(device("emulated:" + std::to_string(i)));
  for (int i = 0; i < 60; ++i) many.in_work.push_back({.name = "talk", .device = "cuda:0"});
  for (int i = 0; i < 30; ++i) many.failures.push_back({.name = "bad", .error = "why"});
  for (const auto& status : {lectures(), many, FleetStatus{}})
    for (std::size_t columns = 1; columns < 140; columns += 3)
      for (std::size_t rows = 0; rows < 50; ++rows) {
        const auto lines = render_fleet(status, {.columns = columns, .lines = rows});
        ASSERT_LE(lines.size(), rows);
        for (const auto& line : lines) ASSERT_EQ(columns_of(line), columns) << columns << "x" << rows << ": " << line;
      }
}

TEST(FleetTable, HoldReasonIsShownBelowTheTotals) {
  FleetStatus status = lectures();
  status.held_up = "out/a.txt: No space left on device";
  const auto lines = render_fleet(status, {.columns = 80, .lines = 24});
  EXPECT_NE(lines[3].find("No space left on device"), std::string::npos) << lines[3];
  EXPECT_EQ(read_fleet_status(fleet_status_json(status))->held_up, status.held_up);
}

TEST(FleetTable, CostSoFarHasALineOfItsOwnWhereItIsKnown) {
  FleetStatus status = lectures();
  EXPECT_THAT(joined(render_fleet(status, {.columns = 80, .lines = 24})), Not(HasSubstr("cost so far")));
  status.cost = 0.21;
  status.devices[1].usd_hour = 0.526;
  const std::string shown = joined(render_fleet(status, {.columns = 80, .lines = 24}));
  EXPECT_THAT(shown, HasSubstr("cost so far 0.21 USD, 0.07 per hour of audio"));
  EXPECT_THAT(shown, HasSubstr("next task: cuda:1")) << "it takes nothing from the other lines";
  const auto read = read_fleet_status(fleet_status_json(status));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->cost, 0.21);
  EXPECT_FALSE(read->devices[0].usd_hour);
  EXPECT_EQ(read->devices[1].usd_hour, 0.526);
}

TEST(FleetTable, RowsThatDoNotFitAreCounted) {
  FleetStatus many = lectures();
  for (int i = 2; i < 16; ++i) many.devices.push_back(device("cuda:" + std::to_string(i)));
  for (int i = 0; i < 60; ++i) many.in_work.push_back({.name = "talk", .device = "cuda:0"});
  const std::string all = joined(render_fleet(many, {.columns = 80, .lines = 24}));
  EXPECT_THAT(all, HasSubstr("cuda:15")) << "sixteen devices fit";
  EXPECT_THAT(all, HasSubstr("and 61 more"));
  EXPECT_THAT(joined(render_fleet(many, {.columns = 80, .lines = 12})), HasSubstr("more devices"));
}

TEST(FleetTable, ANarrowTerminalKeepsStateJobsAndSpeed) {
  const std::string all = joined(render_fleet(lectures(), {.columns = 40, .lines = 24}));
  EXPECT_THAT(all, AllOf(HasSubstr("healthy"), HasSubstr("3/5"), HasSubstr("31.2×"), Not(HasSubstr("FOREIGN"))));
}

TEST(FleetTable, ASpeedThatIsOnlyExpectedIsMarkedUntilOneIsMeasured) {
  FleetStatus s = lectures();
  s.devices[0].usual_speed = 40;
  s.devices[1].speed.reset();
  s.devices[1].usual_speed = 12;
  const std::string all = joined(render_fleet(s, {.columns = 80, .lines = 24}));
  EXPECT_THAT(all, AllOf(HasSubstr("31.2×"), HasSubstr("~12.0×"), Not(HasSubstr("~40"))));
}

TEST(FleetTable, AsciiTerminalGetsOnlyAsciiAndColourOnRequest) {
  const auto plain = render_fleet(lectures(), {.columns = 80, .lines = 24, .ascii = true});
  for (const auto& line : plain) {
    EXPECT_EQ(line.size(), 80U);
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << line;
  }
  const std::string coloured = joined(render_fleet(lectures(), {.columns = 80, .lines = 24, .colour = true}));
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;31m")) << "a device out of service";
}

TEST(FleetTable, ANameCannotMoveTheCursor) {
  FleetStatus s = lectures();
  s.in_work[0].name =
      "evil\x1b[2J\nname\xc2\x9b"
      "1m";
  const auto lines = render_fleet(s, {});
  EXPECT_THAT(joined(lines), HasSubstr("evil"));
  for (const auto& line : lines) {
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(line.find('\x9b'), std::string::npos);
  }
}

TEST(FleetLine, ReadsAsInTheNote) {
  FleetStatus s = lectures();
  s.devices[1].state = "healthy";
  s.devices[1].jobs = 2;
  s.devices[1].own_load = 0.32;
  s.devices[1].foreign_load.reset();
  EXPECT_EQ(fleet_line(s), "GPU 0: 3/5 tasks, 45% util | GPU 1: 2/5 tasks, 32% util -> next: GPU 1");
  s.devices[1].load = 0.85;
  s.devices[1].own_load = 0;
  EXPECT_THAT(fleet_line(s), HasSubstr("GPU 1: 2/5 tasks, 85% util")) << "what the decision used";
}

TEST(FleetJson, WrittenStatusReadsBackAndUnknownIsAbsent) {
  const FleetStatus s = lectures();
  const std::string json = fleet_status_json(s);
  EXPECT_THAT(json, AllOf(HasSubstr("\"version\":1"), HasSubstr("\"own_memory_bytes\":6100000000"),
                          HasSubstr("\"waiting\":23"), Not(HasSubstr("temperature_celsius"))));
  const auto back = read_fleet_status(json);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(fleet_status_json(*back), json);
  EXPECT_FALSE(back->devices[0].celsius);
  EXPECT_EQ(back->devices[1].since, Seconds(12));
}

TEST(FleetJson, UnknownVersionOrWrongTypeErrorNamesIt) {
  EXPECT_THAT(read_fleet_status("{\"version\":2}").error().text(), HasSubstr("expected version 1, found 2"));
  EXPECT_THAT(read_fleet_status("{\"version\":\"1\"}").error().text(), HasSubstr("expected version 1, found \"1\""));
  EXPECT_THAT(read_fleet_status("{\"version\":1,\"tasks\":\"many\"}").error().text(),
              HasSubstr("\"tasks\": expected a count, found string"));
  EXPECT_FALSE(read_fleet_status("nonsense"));
  EXPECT_FALSE(read_fleet_status("{\"version\":1,\"devices\":[1]}"));
  EXPECT_TRUE(read_fleet_status("{\"version\":1,\"a_new_field\":[1]}"));
}
