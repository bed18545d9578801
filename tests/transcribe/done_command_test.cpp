#include "transcribe/done_command.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "support/log_lines.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::function<bool()> kGoesOn = [] { return true; };

TEST(DoneCommand, NamesInBracesBecomeQuotedPaths) {
  const fs::path outputs[] = {"out/my talk.txt", "out/my talk.json"};
  EXPECT_EQ(DoneCommand("cp {json} {input} > {txt}; awk '{print $1}' {srt} ${HOME} {").command_for("it's.mp3", outputs),
            "cp 'out/my talk.json' 'it'\\''s.mp3' > 'out/my talk.txt'; awk '{print $1}' {srt} ${HOME} {");
}

TEST(DoneCommand, AnOutputThatIsNotWrittenIsRefused) {
  const Format formats[] = {Format::txt, Format::json};
  EXPECT_TRUE(DoneCommand("a {txt} {json} {input} {other} {all}").expect_outputs(formats));
  const auto refused = DoneCommand("a {txt} {srt}").expect_outputs(formats);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::usage);
  EXPECT_THAT(refused.error().what, HasSubstr("expected srt among the outputs for {srt}, found txt, json"));
}

TEST(DoneCommand, RunsAndCountsFailures) {
  const TempFolder folder;
  const fs::path outputs[] = {folder / "a b.txt"};
  ASSERT_TRUE(write_file_atomically(outputs[0], "text\n"));
  ASSERT_TRUE(write_file_atomically(folder / "good.ok", ""));
  DoneCommand command("cat {txt} > {input}.seen && test -e {input}.ok");
  command.run("good", folder / "good", outputs, kGoesOn);
  EXPECT_EQ(command.failures(), 0u);
  EXPECT_EQ(read_file(folder / "good.seen").value(), "text\n");
  const LogLines log;
  command.run("bad", folder / "bad", outputs, kGoesOn);
  EXPECT_EQ(command.failures(), 1u);
  EXPECT_EQ(read_file(folder / "bad.seen").value(), "text\n");
  EXPECT_THAT(log.texts, testing::Contains(HasSubstr("bad: on_done: the command exited with status 1")));
}

TEST(DoneCommand, OneThatHangsEndsWithTheRun) {
  DoneCommand command("sleep 1000");
  int looks = 0;
  command.run("x", "x", {}, [&] { return ++looks < 3; });
  EXPECT_EQ(command.failures(), 1u);
}

}  // namespace
}  // namespace tutti
