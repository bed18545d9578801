#include "cli/wer_command.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "text/normalizer.h"
#include "text/wer.h"

namespace tutti {
namespace {

struct WerCommand {
  std::filesystem::path ref{};
  std::filesystem::path hyp{};
  std::string normalizer = "none";
  bool by_line = false;
  bool json = false;
};

}  // namespace
}  // namespace tutti
