#include "audio/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/owned.h"

namespace tutti {
namespace {

/// posix_spawn's two lists, freed at the end of the scope.
struct SpawnPlan {
  SpawnPlan() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

void leave_our_group_and_signals(posix_spawnattr_t& attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::filesystem::path& program,
                                         const std::vector<std::string>& arguments,
                                         std::span<const std::pair<int, int>> handed) {
  constexpr int kAboveTargets = 16;
  SpawnPlan plan;
  leave_our_group_and_signals(plan.attributes);
  posix_spawn_file_actions_addopen(&plan.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&plan.files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<OwnedFd> copies;  // above every target number, so that no dup2 lands on a source
  for (const auto& [ours, theirs] : handed) {
    copies.emplace_back(::fcntl(ours, F_DUPFD_CLOEXEC, kAboveTargets));
    if (!copies.back())
      return tl::unexpected<Error>(system_error("a descriptor", "cannot be handed to a child", errno));
    posix_spawn_file_actions_adddup2(&plan.files, copies.back().get(), theirs);
  }
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, program.c_str(), &plan.files, &plan.attributes, argv.data(), environ);
  if (code != 0) return tl::unexpected<Error>(system_error(program.string(), "cannot be started", code));
  return ChildProcess(pid);
}

void ChildProcess::kill() const {
  ::kill(pid_, SIGKILL);
}

int ChildProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  kill();
  wait();
}

}  // namespace tutti
