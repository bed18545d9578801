#include "link/supervisor.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "base/log.h"
#include "link/wire.h"

namespace tutti {
namespace {

// A worker that stops reading is hung; it reads on a thread of its own, so a full socket buffer takes no time to drain.
constexpr Seconds kSendPatience{0.5};
// For a worker that goes by itself, or will as its connection ends.
constexpr Seconds kExitGrace{0.5};
constexpr std::size_t kLinesOfEvidence = 5;

Clock::Instant now() {
  return Clock::real().now();
}

const Error kStopped{Fault::cancelled, "stopped"};

Level level_of(const LogLine& line) {
  return static_cast<Level>(line.level);
}

/// Signals that a program does not bring upon itself: a user sends them, or the kernel for want of memory.
bool is_sent(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

}  // namespace

std::string evidence_of(const Child& child, bool leaving, const std::string& how) {
  std::string evidence = " (process " + std::to_string(child.pid()) + (leaving ? " " + how : "");
  const auto lines = child.last_lines();
  if (!lines.empty()) evidence += "; it last wrote";
  for (std::size_t i = lines.size() - std::min(lines.size(), kLinesOfEvidence); i < lines.size(); ++i)
    evidence += " | " + lines[i];
  return evidence + ")";
}

struct Supervisor::WorkerProcess {
  std::unique_ptr<Child> child;
  Connection connection;
  Session session;
  std::optional<Error> send_error{};  // why something could not be sent
};

void Supervisor::run() {
  const Ending ending = live();
  const bool stopped = stop_at().has_value();
  const Error error =
      stopped ? kStopped : Error{ending.error.fault, options_.name + ": " + ending.error.what, ending.error.hint};
  state_.change([&](WorkerState& state) {
    state.ended = error;
    state.ended_unclearly = !stopped && ending.unclear;
    state.table.close(error);
    state.table.abandon(error);
  });
}

SessionTerms Supervisor::terms() const {
  return {.build_id = options_.build_id,
          .is_other = options_.is_other,
          .device_uuid = options_.device_uuid,
          .model = options_.model,
          .load_limit = options_.load_limit,
          .heartbeat = options_.heartbeat,
          .timed = !options_.command.wrapped};
}

Result<std::unique_ptr<Child>> Supervisor::start(OwnedFd socket) const {
  auto environment = options_.command.environment;
  environment.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  environment.emplace_back("CUDA_VISIBLE_DEVICES",
                           options_.device_uuid);  // none keeps a CPU worker from a CUDA context
  return Child::start({.name = options_.name,
                       .command = options_.command.words,
                       .environment = std::move(environment),
                       .handed = {{socket.get(), kWorkerSocket}},
                       .core = options_.core,
                       .streams = options_.command.wrapped ? ChildStreams::terminal : ChildStreams::logged});
}

Ending Supervisor::live() {
  auto pair = Connection::make_pair();
  if (!pair) return {.error = pair.error()};
  auto child = start(std::move(pair->second));
  if (!child) return {.error = child.error(), .final = is_permanent(child.error().fault)};
  WorkerProcess process{std::move(*child), Connection(std::move(pair->first), "the worker"), Session(terms(), now())};
  state_.with([&](WorkerState& state) { state.process = process.child->pid(); });

  Ending ending = serve_connection(process);
  state_.with([](WorkerState& state) { state.process.reset(); });
  process.connection.shut();
  Seconds grace = ending.leaving || ending.final ? kExitGrace : Seconds(0);
  if (const auto until = stop_at()) grace = std::max(Seconds(0), Seconds(*until - now()));
  const ChildEnd& end = process.child->end(grace);
  if (!ending.final) ending.error.what += evidence_of(*process.child, ending.leaving, end.words);
  if (ending.leaving && is_sent(end.signal)) ending.unclear = true;
  return ending;
}

Ending Supervisor::serve_connection(WorkerProcess& process) {
  for (bool exited = false;;) {
    // Taken before any message is received: time that passes while we receive must not count as the worker's silence.
    const Clock::Instant at = now();
    if (auto ending = drain_messages(process, at)) return *ending;
    if (exited) return {.error = {Fault::device, "the worker ended"}, .leaving = true};
    if (auto ending = act_on(process, process.session.tick(at))) return *ending;
    const auto until = stop_at();
    if (until && nothing_left_before(*until, at)) return {kStopped};
    send_orders(process);
    exited = wait(process, std::min(process.session.wake_at(), until.value_or(Clock::Instant::max())));
  }
}

std::optional<Ending> Supervisor::drain_messages(WorkerProcess& process, Clock::Instant at) {
  for (;;) {
    auto packet = process.connection.receive(Seconds(0));
    if (!packet)
      return Ending{.error = process.send_error.value_or(packet.error()),
                    .leaving = packet.error().fault == Fault::device};
    if (!*packet) return {};
    auto message = decode_to_control((*packet)->message);
    if (!message) {
      Error error = message.error();
      if (options_.is_other) error.hint = "docs/engines.md has the messages";
      return Ending{std::move(error)};
    }
    if (const auto* line = std::get_if<LogLine>(&*message)) {
      log(level_of(*line), options_.name + ": " + line->text);
      continue;
    }
    if (auto ending = act_on(process, process.session.on_message(std::move(*message), at))) return ending;
  }
}

std::optional<Ending> Supervisor::act_on(WorkerProcess& process, const Reaction& reaction) {
  if (reaction.ending) return reaction.ending;
  if (reaction.ready) state_.change([&](WorkerState& state) { state.ready = *reaction.ready; });
  if (reaction.reply) send(process, *reaction.reply);
  if (reaction.worker_answer) {
    Result<void> understood;
    state_.change([&](WorkerState& state) { understood = state.table.on_message(*reaction.worker_answer); });
    if (!understood) return Ending{understood.error()};
  }
  return {};
}

// A failure shuts the connection and shows at the next receive, after all that the worker had sent before: that
// explains more than that it went.
void Supervisor::send(WorkerProcess& process, const ToWorker& message, int memory) {
  const auto sent = process.connection.send(encode_message(message), memory, kSendPatience);
  if (!sent && !process.send_error) process.send_error = sent.error();
}

void Supervisor::send_orders(WorkerProcess& process) {
  if (!process.session.ready()) return;
  const auto orders = state_.with([](WorkerState& state) { return state.table.due(); });
  for (const auto& order : orders) send(process, order.message, order.memory ? order.memory->fd() : -1);
}

// While stopping nothing new begins; it is over once no caller waits or the time is up.
bool Supervisor::nothing_left_before(Clock::Instant until, Clock::Instant at) {
  bool idle = false;
  state_.change([&](WorkerState& state) {
    state.table.close(kStopped);
    idle = state.table.idle();
  });
  return idle || at >= until;
}

std::optional<Clock::Instant> Supervisor::stop_at() const {
  return state_.with([](const WorkerState& state) { return state.stop_at; });
}

// Until the state, the worker or its connection has something new, or it is `until`. True: the process has exited,
// whatever other process may still hold its end of the connection.
bool Supervisor::wait(const WorkerProcess& process, Clock::Instant until) const {
  pollfd waiting[3] = {{.fd = wake_, .events = POLLIN, .revents = 0},
                       {.fd = process.connection.fd(), .events = POLLIN, .revents = 0},
                       {.fd = process.child->pidfd(), .events = POLLIN, .revents = 0}};
  int milliseconds = -1;
  if (until != Clock::Instant::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now()).count();
    milliseconds = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
  }
  if (::poll(waiting, 3, milliseconds) <= 0) return false;
  eventfd_t ignored = 0;
  if (waiting[0].revents != 0) ::eventfd_read(wake_, &ignored);
  return waiting[2].revents != 0;
}

}  // namespace tutti
