#include "cli/engine_process/engine_run.h"

#include <poll.h>

#include <algorithm>
#include <csignal>

#include "base/environment.h"
#include "base/process/child.h"
#include "base/process/exit_code.h"
#include "base/process/received_signals.h"
#include "base/program_paths.h"
#include "cli/command_start.h"
#include "link/engine_command.h"

namespace tutti {
namespace {

/// What libsndfile cannot read is decoded by children of the engine. We are a lighter decoder than the engine itself.
std::pair<std::string, std::string> decoder() {
  constexpr const char* kName = own_variables::kDecoder;
  return {kName, variable(kName).value_or(program_paths().self.string())};
}

/// The processes that have not ended yet, and the output of those that have.
class Engines {
 public:
  explicit Engines(std::string doing) : doing_(std::move(doing)) {}

  /// Whether it could be started.
  bool start(const EngineRun& run) {
    auto command = engine_command(EngineSettings::of_this_process(), run.arguments);
    if (!command) return refuse(command.error());
    ChildOptions options{.name = run.name,
                         .command = std::move(command->words),
                         .environment = std::move(command->environment),
                         .core = run.core,
                         .streams = ChildStreams::terminal};
    options.environment.insert(options.environment.end(), run.environment.begin(), run.environment.end());
    options.environment.push_back(decoder());
    auto child = Child::start(options);
    if (!child) return refuse(child.error());
    running_.push_back({std::move(*child), run.name});
    return true;
  }

  /// Until all have ended, or one has failed; the others are killed then.
  int wait(const ReceivedSignals& signals) {
    while (!running_.empty() && !failed_) {
      std::vector<pollfd> watched{{signals.fd(), POLLIN, 0}};
      for (const auto& engine : running_) watched.push_back({engine.child->pidfd(), POLLIN, 0});
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;
      if (const auto signal = signals.read(); signal.number != 0 && !signal.by_terminal) {
        handed_on_ = signal.number;
        for (const auto& engine : running_) ::kill(engine.child->pid(), signal.number);
      }
      for (std::size_t i = running_.size(); i-- > 0;)
        if (watched[i + 1].revents) take_end(i);
    }
    running_.clear();
    return code_;
  }

 private:
  struct Running {
    std::unique_ptr<Child> child;
    std::string name;
  };

  bool refuse(const Error& error) {
    code_ = complain(error, kNothingRan);
    failed_ = true;
    return false;
  }

  void take_end(std::size_t at) {
    const auto engine = std::move(running_[at]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
    const ChildEnd& end = engine.child->end(Seconds(0));
    if (end.signal != 0 && end.signal == handed_on_) {
      code_ = kInterrupted;  // it had not begun to listen to signals
    } else if (end.signal != 0 || end.status < 0) {
      refuse({Fault::device, engine.name + " " + end.words + " while " + doing_,
              end.signal == SIGKILL
                  ? "Unless a user did that, the system did, for want of memory (see 'dmesg'): take less at once"
                  : ""});
    } else if (end.status != kDone && !failed_) {
      failed_ = end.status != kInterrupted;
      code_ = end.status;
    }
  }

  std::string doing_;
  std::vector<Running> running_{};
  int code_ = kDone;
  int handed_on_ = 0;  // the last signal
  bool failed_ = false;
};

}  // namespace

int run_engines(const std::vector<EngineRun>& runs, const std::string& doing) {
  const ReceivedSignals signals;
  Engines engines(doing);
  for (const auto& run : runs)
    if (!engines.start(run)) break;
  return engines.wait(signals);
}

int run_engine(const std::vector<std::string>& arguments, const std::string& doing) {
  return run_engines({{.arguments = arguments}}, doing);
}

}  // namespace tutti
