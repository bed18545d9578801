#include "cli/model_conversion.h"

#include <poll.h>

#include <cerrno>

#include "base/child.h"
#include "base/log.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "hub/find.h"
#include "hub/names.h"
#include "link/engine_command.h"

namespace tutti {
namespace {

/// Waits as long as it takes: the child is at work, and Ctrl+C reaches it and us.
void wait_for(const Child& child) {
  pollfd exited{.fd = child.pidfd(), .events = POLLIN, .revents = 0};
  while (::poll(&exited, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

bool names_model(const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) return kind_of(word).has_value() || std::filesystem::is_directory(word);
  return !word.ends_with(".json") && resolve_name(word).has_value();
}

int convert_model_by_engine(const std::string& word, const std::filesystem::path& into, const std::string& type) {
  const auto model = find_model(word, ModelPlaces::from_environment());
  if (!model) return complain(model.error(), kUsage);
  auto command = engine_command(EngineSettings::of_this_process(),
                                {"convert", "--model", model->string(), "--into", into.string(), "--type", type});
  if (!command) return complain(command.error(), kNothingRan);
  const auto child =
      Child::start({.name = "tutti-engine", .command = std::move(command->words), .streams = ChildStreams::terminal});
  if (!child) return complain(child.error(), kNothingRan);
  wait_for(**child);
  const ChildEnd& end = (*child)->end(Seconds(0));
  if (end.signal == 0) return end.status;
  return complain(
      {Fault::device, "tutti-engine " + end.words + " while it converted " + model->string(), "Nothing was written"},
      kNothingRan);
}

}  // namespace tutti
