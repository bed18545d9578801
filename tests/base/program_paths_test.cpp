#include "base/program_paths.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/environment.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

TEST(ProgramPaths, ProgramThatIsItsOwnChildStartsItsLink) {
  const auto paths = ProgramPaths::of("/proc/self/exe");
  EXPECT_EQ(paths.tutti, "/proc/self/exe") << "an update of the file must not change what runs";
  EXPECT_EQ(paths.self.filename(), "test_base");
}

TEST(ProgramPaths, UnnamedOnesAreInTheFolderOfPathThatHasTutti) {
  const TempFolder without, with;
  std::ofstream(with / "tutti") << "#!/bin/sh\n";
  fs::permissions(with / "tutti", fs::perms::owner_all);
  const ScopedVariable path("PATH", (without.path().string() + ":" + with.path().string()).c_str());
  EXPECT_EQ(program_paths().tutti, with / "tutti");
  EXPECT_EQ(program_paths().self.parent_path(), with.path());
}

TEST(ProgramPaths, NamedOnesAreTakenUnlessATestNamesAnother) {
  set_program_paths(ProgramPaths::in("/opt/tutti"));
  EXPECT_EQ(decoder_program(), "/opt/tutti/tutti");
  EXPECT_EQ(emulator_program(), "/opt/tutti/tutti");
  const ScopedVariable decoder("TUTTI_DECODER", "/a/decoder"), emulator("TUTTI_EMULATOR", "/an/emulator");
  EXPECT_EQ(decoder_program(), "/a/decoder");
  EXPECT_EQ(emulator_program(), "/an/emulator");
}

}  // namespace
}  // namespace tutti
