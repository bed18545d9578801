#include <gmock/gmock.h>

#include "view/text.h"
#include "view/top/top_screen.h"

using namespace tutti;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

Key key(char c) {
  return {Key::Name::text, std::string(1, c)};
}
Key key(Key::Name name) {
  return {name};
}

DeviceStatus device(std::string id, double load, double speed) {
  DeviceStatus d{.id = std::move(id)};
  d.own_load = load;
  d.speed = speed;
  d.uuid = "GPU-1a2b";
  return d;
}

TopData batch() {
  TopData data{.title = "batch talks"};
  data.devices = {device("cuda:0", 0.2, 30), device("cuda:1", 0.9, 12), device("cpu:0", 0.5, 3)};
  data.run = FleetStatus{.run = "talks", .elapsed = Seconds(60), .jobs = 9, .running = 2, .left = Seconds(90)};
  data.run->in_work = {{.id = "17", .name = "short.mp3", .device = "cuda:0", .length = Seconds(60)},
                       {.id = "18", .name = "long.mp3", .device = "cuda:1", .length = Seconds(6000)}};
  data.run->failures = {{.name = "bad.mp3", .error = "no audio"}};
  data.details["cuda:1"] = {"POWER     180 W of 200 W"};
  return data;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const auto& line : lines) all += line + "\n";
  return all;
}

std::vector<Key::Name> names(const std::vector<Key>& keys) {
  std::vector<Key::Name> out;
  for (const auto& each : keys) out.push_back(each.name);
  return out;
}

}  // namespace

TEST(TopKeys, AreReadHoweverTheirBytesAreCut) {
  using enum Key::Name;
  const std::string bytes = "a\x1b[A\x1bOB\x1b[5~\x1b[Z\t\r\x7fä\x1b[1;5Cx";
  const std::vector<Key::Name> expected{text, up, down, page_up, back_tab, tab, enter, backspace, text, other, text};
  EXPECT_EQ(names(KeyReader().read(bytes)), expected);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    KeyReader reader;
    auto keys = reader.read(bytes.substr(0, cut));
    for (const auto& each : reader.read(bytes.substr(cut))) keys.push_back(each);
    EXPECT_EQ(names(keys), expected) << cut;
  }
}

TEST(TopKeys, ALoneEscapeIsOneWhenNothingFollows) {
  KeyReader reader;
  EXPECT_TRUE(reader.read("\x1b").empty());
  EXPECT_TRUE(reader.waiting());
  EXPECT_EQ(names(reader.settle()), std::vector{Key::Name::escape});
  EXPECT_FALSE(reader.waiting());
  EXPECT_EQ(names(reader.read("\x1bq")), (std::vector{Key::Name::escape, Key::Name::text}));
}

TEST(TopState, ArrowsStayWithinTheRows) {
  TopState state;
  const TopData data = batch();
  press(state, key(Key::Name::up), data);
  EXPECT_EQ(state.selected, 0U);
  for (int i = 0; i < 9; ++i) press(state, key('j'), data);
  EXPECT_EQ(state.selected, 2U);
  press(state, key('g'), data);
  EXPECT_EQ(state.selected, 0U);
}

TEST(TopState, JobsAreCancelledOnlyAfterAYes) {
  TopState state;
  const TopData data = batch();
  EXPECT_FALSE(press(state, key('x'), data));
  EXPECT_THAT(state.message, HasSubstr("go there with Tab"));
  press(state, key(Key::Name::tab), data);
  press(state, key('j'), data);
  EXPECT_FALSE(press(state, key('x'), data)) << "asks first";
  EXPECT_THAT(render_top(data, state, {}).back(), HasSubstr("cancel long.mp3? y or n"));
  EXPECT_FALSE(press(state, key('q'), data)) << "anything else means no, and does nothing else";
  EXPECT_FALSE(state.quit);
  press(state, key('x'), data);
  const auto action = press(state, key('y'), data);
  ASSERT_TRUE(action);
  EXPECT_EQ(action->what, TopAction::What::cancel);
  EXPECT_EQ(action->id, "18");
  EXPECT_EQ(action->name, "long.mp3");
}

TEST(TopState, PromptAfterALongNameStaysReadable) {
  TopState state;
  TopData data = batch();
  data.run->in_work[0].name = "Lecture " + std::string(200, 'x') + " of monday.mp3";
  press(state, key(Key::Name::tab), data);
  EXPECT_FALSE(press(state, key('x'), data));
  EXPECT_THAT(render_top(data, state, {.columns = 60}).back(),
              AllOf(HasSubstr("cancel …x"), HasSubstr("of monday.mp3? y or n")));
}

TEST(TopState, DrainAndResumeNameTheDeviceThatIsShownThere) {
  TopState state;
  const TopData data = batch();
  press(state, key('s'), data);  // by load: cuda:1 first
  const auto drain = press(state, key('d'), data);
  ASSERT_TRUE(drain);
  EXPECT_EQ(drain->id, "cuda:1");
  EXPECT_EQ(press(state, key('r'), data)->what, TopAction::What::resume);
  TopData alone = data;
  alone.run.reset();
  EXPECT_FALSE(press(state, key('d'), alone));
  EXPECT_THAT(state.message, HasSubstr("no batch is running"));
}

TEST(TopState, FilterAcceptsCharactersThatAreKeysElsewhere) {
  TopState state;
  const TopData data = batch();
  press(state, key('/'), data);
  for (const char c : std::string("CUDAq")) press(state, key(c), data);
  EXPECT_FALSE(state.quit);
  EXPECT_TRUE(panel_rows(data, state).ids.empty());
  press(state, key(Key::Name::backspace), data);
  press(state, key(Key::Name::enter), data);
  EXPECT_THAT(panel_rows(data, state).ids, ElementsAre("cuda:0", "cuda:1"));
  press(state, key(Key::Name::escape), data);
  EXPECT_EQ(panel_rows(data, state).ids.size(), 3U);
}

TEST(TopState, AFilterLosesWholeCharacters) {
  TopState state{.filter = "aä", .editing_filter = true};
  press(state, key(Key::Name::backspace), batch());
  EXPECT_EQ(state.filter, "a");
}

TEST(TopState, LooksMoreOftenAndLessOftenWithinReason) {
  TopState state;
  for (int i = 0; i < 20; ++i) press(state, key('+'), batch());
  EXPECT_EQ(state.interval, Seconds(0.25));
  for (int i = 0; i < 20; ++i) press(state, key('-'), batch());
  EXPECT_EQ(state.interval, Seconds(16));
}

TEST(TopState, RowsAreSortedByTheChosenColumn) {
  const TopData data = batch();
  EXPECT_THAT(panel_rows(data, {.sort = 3}).ids, ElementsAre("cuda:0", "cuda:1", "cpu:0"));
  EXPECT_THAT(panel_rows(data, {.sort = 1}).ids, ElementsAre("cuda:1", "cpu:0", "cuda:0"));
  EXPECT_THAT(panel_rows(data, {.panel = TopPanel::jobs, .sort = 1}).ids, ElementsAre("18", "17"));
}

TEST(TopState, ASpeedThatIsOnlyExpectedSortsLikeAMeasuredOne) {
  TopData data = batch();
  data.devices[2].speed.reset();
  data.devices[2].usual_speed = 20;
  EXPECT_THAT(panel_rows(data, {.sort = 3}).ids, ElementsAre("cuda:0", "cpu:0", "cuda:1"));
}

TEST(TopScreen, IsAlwaysExactlyAsLargeAsTheTerminal) {
  TopData data = batch();
  for (int i = 0; i < 50; ++i) data.devices.push_back(device("emulated:" + std::to_string(i), 0.1, 5));
  for (const bool details : {false, true})
    for (const bool help : {false, true})
      for (std::size_t columns = 1; columns < 130; columns += 7)
        for (std::size_t rows = 0; rows < 40; ++rows) {
          const TopState state{.selected = 45, .details = details, .help = help};
          const auto lines = render_top(data, state, {.columns = columns, .lines = rows});
          ASSERT_EQ(lines.size(), rows);
          for (const auto& line : lines) ASSERT_EQ(columns_of(line), columns) << line;
        }
}

TEST(TopScreen, TheChosenRowIsInSightAndItsDetailsBelow) {
  TopData data = batch();
  for (int i = 0; i < 50; ++i) data.devices.push_back(device("emulated:" + std::to_string(i), 0.1, 5));
  EXPECT_THAT(joined(render_top(data, {.selected = 45}, {})), HasSubstr("▸emulated:42"));
  const std::string all = joined(render_top(batch(), {.selected = 1, .details = true}, {}));
  EXPECT_THAT(all, AllOf(HasSubstr("GPU-1a2b"), HasSubstr("POWER     180 W of 200 W")));
}

TEST(TopScreen, ARunShowsItsTotalsAndAMachineDoesNot) {
  EXPECT_THAT(joined(render_top(batch(), {}, {})), AllOf(HasSubstr("0/9 done"), HasSubstr("1:30 left")));
  TopData alone = batch();
  alone.run.reset();
  EXPECT_THAT(joined(render_top(alone, {}, {})), AllOf(Not(HasSubstr("done")), Not(HasSubstr("SPEED"))));
  EXPECT_THAT(joined(top_report(batch(), {})), HasSubstr("bad.mp3"));
}

TEST(Repaint, OnlySendsWhatChanged) {
  EXPECT_EQ(repaint({"a", "b", "c"}, {"a", "B", "c"}), "\x1b[2;1HB");
  EXPECT_EQ(repaint({"a", "b"}, {"a", "b"}), "");
  EXPECT_EQ(repaint({"a", "b"}, {"a"}), "\x1b[2;1H\x1b[K");
  EXPECT_EQ(repaint({}, {"a"}), "\x1b[2J\x1b[1;1Ha");
}

TEST(TopReport, ShowsDiskSpaceAndTraffic) {
  TopData data{.title = "this machine"};
  data.host.disks = {{.path = "/", .total = Bytes{100'000'000'000}, .free = Bytes{40'000'000'000}, .read = 12e6},
                     {.path = "/away"}};
  const std::string report = joined(top_report(data, {.columns = 80}));
  EXPECT_THAT(report, AllOf(HasSubstr("disk /  40.0 GB free of 100  12.0 MB/s read"), HasSubstr("disk /away ")));
  EXPECT_THAT(report, Not(HasSubstr("written")));
  EXPECT_THAT(top_json(data),
              AllOf(HasSubstr("\"free_bytes\":40000000000"), HasSubstr("\"read_bytes_per_second\":12000000.0"),
                    HasSubstr("{\"path\":\"/away\"}")));
}

TEST(TopJson, IsTypedAndOmitsUnknownValues) {
  TopData data = batch();
  data.host.busy = 0.5;
  data.processes = {{.pid = 7, .name = "\xff", .own = true}};
  const std::string json = top_json(data);
  EXPECT_THAT(json, AllOf(HasSubstr("\"version\":1"), HasSubstr("\"cpu_busy_ratio\":0.5"), HasSubstr("\"run\":{"),
                          HasSubstr("\"own_load_ratio\":0.2"), Not(HasSubstr("memory_total_bytes"))));
}
