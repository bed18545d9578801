#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/named_model.h"
#include "cli/top/terminal.h"
#include "device/machine.h"
#include "device/telemetry/sampler.h"
#include "doctor/machine_view.h"
#include "jobs/open_store.h"
#include "jobs/sqlite/local_disk.h"
#include "link/control/control_socket.h"
#include "transcribe/batch/batch_status.h"
#include "view/progress.h"
#include "view/terminal_settings.h"
#include "view/top/top_data.h"
#include "view/top/top_screen.h"
#include "view/top/top_state.h"

namespace tutti {
namespace {

/// Where `tutti top` looks.
class TopSource {
 public:
  virtual ~TopSource() = default;

  /// What there is now. Does not wait for a driver; an error is shown, and the call is made again.
  virtual Result<TopData> look() = 0;
  /// Does something to the run; the answer is for people.
  virtual Result<std::string> act(const TopAction& action) = 0;
};

std::string request_of(const TopAction& action) {
  switch (action.what) {
    case TopAction::What::drain: return "drain " + action.id;
    case TopAction::What::resume: return "resume " + action.id;
    case TopAction::What::cancel: return "cancel " + action.id;
  }
  return {};
}

std::string done_text(const TopAction& action) {
  switch (action.what) {
    case TopAction::What::drain: return action.name + " finishes what it has and takes nothing new";
    case TopAction::What::resume: return action.name + " takes work again";
    case TopAction::What::cancel: return action.name + " is being cancelled";
  }
  return {};
}

/// Where recordings are decoded to, results are recorded, and a batch's outputs go. Shares of other machines are left
/// out: one that is away would hold up a query of how full it is.
std::vector<std::filesystem::path> watched_disks(const FleetStatus& run) {
  std::vector<std::filesystem::path> paths{temporary_folder(), run.state_folder};
  if (run.state_folder.empty()) paths.back() = state_folder();
  if (std::filesystem::path(run.run).is_absolute()) paths.emplace_back(run.run);
  auto disks = disks_of(paths);
  std::erase_if(disks, [](const auto& disk) { return network_file_system(disk).has_value(); });
  return disks;
}

/// The latest batch that answers; where none does (any more), the machine. Looks for one again at every look, so that
/// `tutti top` may be left open between batches.
class Source final : public TopSource {
 public:
  Result<TopData> look() override {
    if (!run_or_none()) socket_.clear();
    watch_tree_of(socket_);
    const auto machine = sampler_->latest();
    const auto now = Clock::real().now();
    if (!run_) return machine_view(*machine, now);
    TopData data{.title = "batch " + run_->run, .run = run_, .devices = run_->devices};
    add_telemetry(data, *machine, now);
    data.run->devices = data.devices;
    return data;
  }

  Result<std::string> act(const TopAction& action) override {
    if (socket_.empty()) return fail(Fault::usage, "no batch is running here: there is nothing to drain or cancel");
    const auto answer = TRY(send_control_request(socket_, request_of(action)));
    const auto document = nlohmann::json::parse(answer, nullptr, false);
    const auto field = [&](const char* name) {
      return document.is_object() ? document.value(name, nlohmann::json()) : nlohmann::json();
    };
    if (field("ok") == true) return done_text(action);
    const auto error = field("error");
    return fail(Fault::usage, error.is_string() ? error.get<std::string>() : answer);
  }

 private:
  static constexpr Seconds kPatience{1};         // a batch that is busy still shows
  static constexpr Seconds kFirstReadings{2.5};  // loads are rates: they need two samples

  /// The status of the batch that was seen last, else of the latest that answers.
  bool run_or_none() {
    run_.reset();
    if (!socket_.empty() && poll(socket_)) return true;
    const auto folder = control_folder();
    for (const auto& socket : folder ? control_sockets(*folder) : std::vector<std::filesystem::path>())
      if (poll(socket)) return true;
    return false;
  }

  bool poll(const std::filesystem::path& socket) {
    const auto answer = send_control_request(socket, "status", kPatience);
    auto status = answer ? read_fleet_status(*answer) : tl::unexpected<Error>(answer.error());
    if (!status) return false;
    run_ = std::move(*status);
    socket_ = socket;
    return true;
  }

  /// "Ours" in loads and memory is the batch's process tree.
  void watch_tree_of(const std::filesystem::path& socket) {
    if (sampler_ && watched_ == socket) return;
    const std::string name = socket.stem().string();  // batch-PID
    SamplerOptions options;
    if (const int pid = std::atoi(name.c_str() + std::min(name.size(), name.find('-') + 1)); pid > 0)
      options.own_root = pid;
    options.disks = watched_disks(run_.value_or(FleetStatus{}));
    sampler_ = std::make_unique<Sampler>(std::move(options));
    (void)sampler_->settled(kFirstReadings);
    watched_ = socket;
  }

  std::filesystem::path socket_;
  std::optional<FleetStatus> run_;
  std::unique_ptr<Sampler> sampler_;
  std::filesystem::path watched_;
};

/// The machines that share a store on a server.
class StoreSource final : public TopSource {
 public:
  StoreSource(StoreUrl url, std::unique_ptr<JobStore> store) : url_(std::move(url)), store_(std::move(store)) {}

  Result<TopData> look() override {
    auto status = TRY(fleet_of_store(*store_, url_));
    TopData data{.title = "store " + url_.text(), .devices = status.devices};
    data.run = std::move(status);
    return data;
  }

  Result<std::string> act(const TopAction& action) override {
    const auto id = number_in<JobId>(action.id);
    if (action.what != TopAction::What::cancel || !id)
      return fail(Fault::usage, action.name + " is steered on its own machine, by tutti top there");
    const auto changed = TRY(store_->cancel({.ids = {*id}}));
    if (changed == 0) return fail(Fault::missing, action.name + " has ended");
    return done_text(action);
  }

 private:
  const StoreUrl url_;
  const std::unique_ptr<JobStore> store_;
};

struct TopCommand {
  std::string store{};
  bool once = false;
  bool json = false;
  bool ascii = false;
  double interval = 1;
};

void dress(Screen& screen, const TopCommand& command) {
  screen.ascii = command.ascii || !is_utf8_locale();
  screen.colour = wants_colour();
}

/// What a store's machines do; without --store the latest running batch of this user that answers, and where there is
/// none, the machine by telemetry.
Result<std::unique_ptr<TopSource>> top_source(const TopCommand& command) {
  if (command.store.empty()) return std::make_unique<Source>();
  const auto named = TRY(store_named({}, command.store));
  auto store = TRY(open_store_if_there(named.store));
  if (!store)
    return fail(Fault::missing, named.store.text() + ": no store is there yet", "'tutti batch --store' makes it");
  return std::make_unique<StoreSource>(named.store, std::move(store));
}

int print_once(const TopCommand& command) {
  const auto source = top_source(command);
  if (!source) return complain(source.error());
  const auto data = (*source)->look();
  if (!data) return complain(data.error(), kNothingRan);
  if (command.json) {
    std::puts(top_json(*data).c_str());
    return kDone;
  }
  Screen screen{.columns = LiveLines(STDOUT_FILENO).width()};
  dress(screen, command);
  screen.colour = screen.colour && ::isatty(STDOUT_FILENO);
  for (std::string line : top_report(*data, screen)) {
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(line.c_str());
  }
  return kDone;
}

/// One person in front of one terminal.
class TopSession {
 public:
  TopSession(Terminal& terminal, TopSource& source, const TopCommand& command)
      : terminal_(terminal), source_(source), command_(command) {
    state_.interval = Seconds(command.interval);
  }

  int run() {
    look();
    for (;;) {
      paint();
      const Seconds due = state_.paused ? Seconds(60) : Seconds(state_.interval - (Clock::real().now() - looked_));
      const TerminalEvents events = terminal_.wait(due);
      if (events.interrupted) return kInterrupted;
      for (const Key& key : events.keys) take(key);
      if (state_.quit) return kDone;
      if (!state_.paused && Clock::real().now() - looked_ >= state_.interval) look();
    }
  }

 private:
  void look() {
    looked_ = Clock::real().now();
    if (auto data = source_.look())
      data_ = std::move(*data);
    else
      state_.message = data.error().text();
  }
  void take(const Key& key) {
    const auto action = press(state_, key, data_);
    if (!action) return;
    const auto done = source_.act(*action);
    state_.message = done ? *done : done.error().text();
  }
  void paint() {
    Screen screen = terminal_.size();
    dress(screen, command_);
    terminal_.show(render_top(data_, state_, screen));
  }

  Terminal& terminal_;
  TopSource& source_;
  const TopCommand& command_;
  TopState state_;
  TopData data_;
  Clock::Instant looked_{};
};

}  // namespace

int run_top(const std::vector<std::string>& arguments) {
  TopCommand command;
  OptionTable table("top",
                    "A running batch, or this machine's devices, live in the terminal. Press ? there for the keys.");
  table.add_switch("once", command.once, "print it once, in full, and leave");
  table.add_switch("json", command.json, "print it once as one line of JSON: numbers typed, units in the names");
  table.add_switch("ascii", command.ascii, "no character outside ASCII; so it is where the locale is not UTF-8");
  add_store(table, command.store);
  table.add("interval", command.interval, "S", "seconds between looks; + and - change it");
  table.examples({"tutti top", "tutti top --once"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (!(command.interval >= 0.1 && command.interval <= 3600))
    return complain({Fault::usage, "--interval: expected 0.1 to 3600 seconds, found " + show_value(command.interval)},
                    kUsage);
  if (command.once || command.json) return print_once(command);
  auto terminal = Terminal::open();
  if (!terminal) return complain(terminal.error(), kUsage);
  const auto source = top_source(command);
  if (!source) return complain(source.error());
  return TopSession(*terminal, **source, command).run();
}

}  // namespace tutti
