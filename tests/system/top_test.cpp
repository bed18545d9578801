// `tutti top` on a terminal, as people use it.

#include <gmock/gmock.h>

#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "support/pseudo_terminal.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/tone_file.h"

using namespace tutti;
using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::Matches;
using testing::SizeIs;

namespace {

const std::vector<std::string> kUtf8{"LC_ALL=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=", "XDG_RUNTIME_DIR=/dev/null"};

std::size_t lines_of(const std::string& text) {
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.empty() ? 0 : 1;
  return count;
}

/// The names of the processes of the batch, as `top --json` lists them.
std::vector<std::string> own_processes(const std::string& json) {
  std::vector<std::string> names;
  const auto reported = nlohmann::json::parse(json);  // must outlive the loop over it
  for (const auto& process : reported["processes"])
    if (process["own"] == true) names.push_back(process["name"]);
  return names;
}

}  // namespace

TEST(Top, FillsAnOrdinaryTerminalAndGivesItBack) {
  PseudoTerminal terminal({tutti_program(), "top"}, 80, 24, kUtf8);
  ASSERT_TRUE(terminal.shows("q leave")) << terminal.screen();
  EXPECT_EQ(lines_of(terminal.screen()), 24U);
  EXPECT_NE(terminal.screen().find("this machine"), std::string::npos);
  EXPECT_FALSE(terminal.echoes()) << "keys are not echoed into the picture";
  terminal.type("q");
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_TRUE(terminal.sent().ends_with("\x1b[?7h\x1b[?25h\x1b[?1049l")) << "cursor and screen are given back";
  EXPECT_TRUE(terminal.echoes());
}

TEST(Top, KeysChangeThePicture) {
  PseudoTerminal terminal({tutti_program(), "top"}, 80, 24, kUtf8);
  ASSERT_TRUE(terminal.shows("[Devices"));
  terminal.type("?");
  ASSERT_TRUE(terminal.shows("drain the device"));
  terminal.type("?");
  ASSERT_TRUE(terminal.hides("drain the device"));
  terminal.type("\t");
  ASSERT_TRUE(terminal.shows("[Tasks"));
  terminal.type("\x1b[Z\x1b[Z");  // back by two, cut in the middle of nothing
  ASSERT_TRUE(terminal.shows("[Processes"));
  terminal.type("/no such process");
  ASSERT_TRUE(terminal.shows("nothing matches the filter"));
  terminal.type("\x1b");
  ASSERT_TRUE(terminal.hides("nothing matches"));
  terminal.type(" ");
  ASSERT_TRUE(terminal.shows("paused"));
  terminal.type("d");
  ASSERT_TRUE(terminal.shows("no batch is running here"));
  terminal.type("q");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST(Top, FollowsTheSizeOfItsWindow) {
  PseudoTerminal terminal({tutti_program(), "top"}, 80, 24, kUtf8);
  ASSERT_TRUE(terminal.shows("q leave"));
  terminal.set_size(40, 10);
  ASSERT_TRUE(terminal.shows("q leave  ? help  Tab panel  Enter detai…"));
  EXPECT_EQ(lines_of(terminal.screen()), 10U);
  terminal.set_size(5, 2);
  ASSERT_TRUE(terminal.shows("q le…"));
  terminal.type("q");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST(Top, CtrlCLeavesAndGivesTheTerminalBack) {
  PseudoTerminal terminal({tutti_program(), "top"}, 80, 24, kUtf8);
  ASSERT_TRUE(terminal.shows("q leave"));
  terminal.type("\x03");
  EXPECT_EQ(terminal.wait(), 130);
  EXPECT_TRUE(terminal.echoes());
}

TEST(Top, WithoutColourAndUtf8OnlyAsciiIsSent) {
  PseudoTerminal terminal({tutti_program(), "top"}, 80, 24,
                          {"LC_ALL=C", "NO_COLOR=1", "TERM=vt100", "XDG_RUNTIME_DIR=/dev/null"});
  ASSERT_TRUE(terminal.shows("q leave"));
  terminal.type("q");
  EXPECT_EQ(terminal.wait(), 0);
  for (const char c : terminal.sent()) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  for (const char* colour : {"\x1b[1m", "\x1b[7m", "\x1b[0m", "\x1b[33m"})
    EXPECT_EQ(terminal.sent().find(colour), std::string::npos);
}

TEST(Top, ShowsARunningBatchAndSteersIt) {
  const TempFolder folder;
  const std::string runtime = "XDG_RUNTIME_DIR=" + folder.path().string();
  std::filesystem::create_directory(folder / "in");
  for (int i = 0; i < 4; ++i) write_tone(folder / ("in/talk" + std::to_string(i) + ".wav"), 60, 200 + 20 * i);
  const auto cards = folder / "cards.toml", report = folder / "report.json";
  ASSERT_TRUE(write_file_atomically(cards, "time = 0.1\n[[device]]\nuse = \"emulated:1x:8GB\"\n"));
  RunningProgram batch({tutti_program(), "batch", (folder / "in").string(), "--devices", cards.string(), "--yes",
                        "--vad-method", "energy", "--output-dir", (folder / "out").string(), "--state",
                        (folder / "state").string(), "--report", report.string()},
                       {runtime});
  ASSERT_TRUE(batch.saw("Processing: "));
  auto settings = kUtf8;
  settings.back() = runtime;
  PseudoTerminal terminal({tutti_program(), "top"}, 100, 24, settings);
  ASSERT_TRUE(terminal.shows("/4 done")) << terminal.screen();
  terminal.type("d");
  ASSERT_TRUE(terminal.shows("takes nothing new"));
  ASSERT_TRUE(terminal.shows("drain")) << "its state";
  terminal.type("r");
  ASSERT_TRUE(terminal.shows("takes work again"));
  terminal.type("\tjjx");  // not the one that ends next
  ASSERT_TRUE(terminal.shows("? y or n"));
  terminal.type("y");
  ASSERT_TRUE(terminal.shows("is being cancelled"));
  terminal.type("q");
  EXPECT_EQ(terminal.wait(), 0);
  const ProgramEnd end = batch.wait();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  const auto reported = nlohmann::json::parse(read_file(report).value());
  EXPECT_EQ(reported["cancelled"], 1) << end.err;
  EXPECT_EQ(reported["successful"], 3) << end.err;
}

TEST(Top, CallsTheProcessesOfABatchByTheProgramsName) {
  const TempFolder folder;
  const std::string runtime = "XDG_RUNTIME_DIR=" + folder.path().string();
  write_tone(folder / "talk.wav", 60, 200);
  RunningProgram batch(
      {tutti_program(), "batch", (folder / "talk.wav").string(), "--devices", "emulated:0.01x:8GB", "--yes",
       "--vad-method", "energy", "--output-dir", (folder / "out").string(), "--state", (folder / "state").string()},
      {runtime});
  ASSERT_TRUE(batch.saw("Processing: "));
  const auto batch_and_worker = AllOf(SizeIs(Ge(2U)), Each("tutti"));
  std::vector<std::string> names;
  for (int looks = 0; looks < 10 && !Matches(batch_and_worker)(names); ++looks)  // a process may only just begin
    names = own_processes(run_program({tutti_program(), "top", "--json"}, {runtime}).out);
  EXPECT_THAT(names, batch_and_worker) << "and not exe, as which it started them";
}

TEST(Top, OnceAndJsonNeedNoTerminal) {
  const ProgramEnd once = run_program({tutti_program(), "top", "--once"}, {"XDG_RUNTIME_DIR=/dev/null"});
  EXPECT_EQ(once.exit_code, 0) << once.err;
  EXPECT_NE(once.out.find("CPU "), std::string::npos) << once.out;
  const ProgramEnd json = run_program({tutti_program(), "top", "--json"}, {"XDG_RUNTIME_DIR=/dev/null"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const auto document = nlohmann::json::parse(json.out);
  EXPECT_EQ(document["version"], 1);
  EXPECT_TRUE(document["host"]["memory_total_bytes"].is_number_unsigned());
  EXPECT_TRUE(document["processes"].is_array());
  const ProgramEnd live = run_program({tutti_program(), "top"});
  EXPECT_EQ(live.exit_code, 2);
  EXPECT_NE(live.err.find("Use --once or --json"), std::string::npos) << live.err;
}
