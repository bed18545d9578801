#include "base/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "base/process/process_setup.h"
#include "base/try.h"

namespace tutti {
namespace {

// How long a killed process may take to go. More means that a driver holds it in the kernel.
constexpr Seconds kKilledWithin{5};
// Our own descriptors are moved up here before the fork, so that putting them in place cannot overwrite one.
constexpr int kFirstFree = 10;

struct Pipe {
  OwnedFd reader;
  OwnedFd writer;
  static Pipe make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    return {OwnedFd(ends[0]), OwnedFd(ends[1])};
  }
};

// Everything the child needs between fork and exec, made before: there it may not allocate or lock.
struct Plan {
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<std::pair<OwnedFd, int>> handed;  // what becomes which number
  OwnedFd report;                               // carries errno of a failed exec; closed by a good one
  pid_t parent = ::getpid();
  std::optional<int> core{};
  bool own_group = true;
  bool complete = true;  // else errno is why something is missing
};

std::vector<std::string> joined_environment(const ChildOptions& options) {
  const auto replaced = [&](std::string_view entry) {
    return std::any_of(options.environment.begin(), options.environment.end(), [&](const auto& pair) {
      return entry.starts_with(pair.first) && entry.substr(pair.first.size()).starts_with('=');
    });
  };
  std::vector<std::string> joined;
  for (char** entry = ::environ; *entry; ++entry)
    if (!replaced(*entry)) joined.emplace_back(*entry);
  for (const auto& [key, value] : options.environment) joined.push_back(key + "=" + value);
  return joined;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void hand(Plan& plan, int fd, int number) {
  OwnedFd moved(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree));  // a bad `fd` fails here, and errno is why
  if (!moved) plan.complete = false;
  plan.handed.emplace_back(std::move(moved), number);
}

void plan_streams(Plan& plan, ChildStreams streams, const OwnedFd& log) {
  plan.own_group = streams != ChildStreams::terminal;
  if (streams == ChildStreams::terminal) return;
  const OwnedFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  hand(plan, nothing.get(), STDIN_FILENO);
  hand(plan, streams == ChildStreams::logged ? log.get() : nothing.get(), STDOUT_FILENO);
  if (streams == ChildStreams::logged) hand(plan, log.get(), STDERR_FILENO);
}

Plan plan_of(const ChildOptions& options, const OwnedFd& log, const OwnedFd& report) {
  Plan plan;
  plan.environment = joined_environment(options);
  plan.argv = pointers_to(options.command);
  plan.envp = pointers_to(plan.environment);
  plan.core = options.core;
  plan_streams(plan, options.streams, log);
  for (const auto& [ours, theirs] : options.handed) hand(plan, ours, theirs);
  plan.report = OwnedFd(::fcntl(report.get(), F_DUPFD_CLOEXEC, kFirstFree));
  plan.complete = plan.complete && plan.report;
  return plan;
}

// From here to exec only async-signal-safe calls: another thread of the parent may have held any lock at the fork.
void default_signals() {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &plain, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool stay_on(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  return ::sched_setaffinity(0, sizeof one, &one) == 0;
}

bool put_in_place(const Plan& plan) {
  if (plan.core && !stay_on(*plan.core)) return false;
  if (plan.own_group && ::setpgid(0, 0) != 0) return false;
  // Libraries may have opened descriptors without O_CLOEXEC; another child's socket must not live on in this one.
  if (::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return false;
  for (const auto& [ours, number] : plan.handed)
    if (::dup2(ours.get(), number) < 0) return false;
  return true;
}

[[noreturn]] void become(const Plan& plan) {
  default_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before that call: then the signal will never come.
  if (::getppid() != plan.parent) ::_exit(127);
  if (put_in_place(plan)) ::execvpe(plan.argv[0], plan.argv.data(), plan.envp.data());
  const int error_number = errno;
  if (::write(plan.report.get(), &error_number, sizeof error_number) < 0) ::_exit(126);
  ::_exit(127);
}

// 0 once the child has executed its program, else why it could not.
int read_report(const OwnedFd& report) {
  int error_number = 0;
  ssize_t got = -1;
  do got = ::read(report.get(), &error_number, sizeof error_number);
  while (got < 0 && errno == EINTR);
  return got > 0 ? error_number : 0;
}

ChildEnd in_words(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED)
    return {.status = info.si_status, .words = "exited with status " + std::to_string(info.si_status)};
  const char* name = ::strsignal(info.si_status);
  return {
      .signal = info.si_status,
      .words = "was killed by signal " + std::to_string(info.si_status) + (name ? " (" + std::string(name) + ")" : "")};
}

}  // namespace

// By its number: the declaration in glibc 2.36 lacks extern "C".
OwnedFd open_pidfd(pid_t pid) {
  return OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

Result<std::unique_ptr<Child>> Child::start(const ChildOptions& options) {
  const auto failed = [&](int error_number) {
    return tl::unexpected<Error>(
        system_error(options.name, options.command[0] + " could not be started", error_number));
  };
  if (ignores_ends_of_children())
    return fail(Fault::refused, options.name + ": this program ignores SIGCHLD, and how its children end would be lost",
                "Set SIGCHLD to its default before");
  Pipe output = Pipe::make();
  if (!output.reader) return failed(errno);
  Pipe report = Pipe::make();
  if (!report.reader) return failed(errno);
  std::optional<Plan> plan = plan_of(options, output.writer, report.writer);
  if (!plan->complete) return failed(errno);
  const pid_t pid = ::fork();
  if (pid < 0) return failed(errno);
  if (pid == 0) become(*plan);
  // Not reaped yet, so the number still means our child.
  auto child = std::unique_ptr<Child>(new Child(pid, open_pidfd(pid), plan->own_group));
  if (!child->pidfd_) return failed(errno);
  // Our copies of its ends, so that its going is the end of both pipes.
  plan.reset();
  output.writer = OwnedFd();
  report.writer = OwnedFd();
  if (const int error_number = read_report(report.reader); error_number != 0) return failed(error_number);
  if (options.streams != ChildStreams::logged) return child;
  child->output_ = TRY(LineLog::start(std::move(output.reader), options.name));
  return child;
}

bool Child::exited_within(Seconds time) const {
  using std::chrono::steady_clock;
  const auto until = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(time);
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
    pollfd waiting{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
  }
}

// The number is ours until the child is reaped, so neither name can have passed to another process. Both: the child may
// not have come to make its group yet.
void Child::kill() const {
  ::kill(pid_, SIGKILL);
  if (own_group_) ::kill(-pid_, SIGKILL);
}

ChildEnd Child::reap() const {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0)
    if (errno != EINTR) return {.status = -1, .words = "ended, and another process took its exit status"};
  return in_words(info);
}

const ChildEnd& Child::end(Seconds grace) {
  if (!ended_.words.empty()) return ended_;
  const bool alone = pidfd_ && exited_within(grace);
  kill();  // in any case: the rest of its group goes with it
  if (alone || !pidfd_ || exited_within(kKilledWithin)) {
    ended_ = reap();
  } else {
    ended_ = {.status = -1, .words = "does not die: the kernel or a driver holds process " + std::to_string(pid_)};
    log(Level::warning, ended_.words);
  }
  if (output_) output_->finish();
  return ended_;
}

std::vector<std::string> Child::last_lines() const {
  return output_ ? output_->last() : std::vector<std::string>{};
}

}  // namespace tutti
