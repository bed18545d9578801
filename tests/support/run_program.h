#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/owned.h"

namespace tutti {

struct ProgramEnd {
  int exit_code = -1;  // 128 + the signal's number when one killed it
  std::string out{};
  std::string err{};
};

/// A program of the build, started with pipes on its outputs. Killed when the test forgets it.
class RunningProgram {
 public:
  /// `words[0]` is the path. `settings` ("NAME=value") go before the environment of the test.
  explicit RunningProgram(std::vector<std::string> words, const std::vector<std::string>& settings = {}) {
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    out_ = OwnedFd(out[0]);
    err_ = OwnedFd(err[0]);
    const OwnedFd out_end(out[1]), err_end(err[1]);
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<std::string> copies(settings);
    for (char** entry = environ; *entry; ++entry)
      if (!names(settings, *entry)) copies.emplace_back(*entry);
    std::vector<char*> variables;
    for (auto& entry : copies) variables.push_back(entry.data());
    variables.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out_end.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err_end.get(), STDERR_FILENO);
    const int failed = ::posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed) throw std::runtime_error("cannot start " + words[0]);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

  /// Reads until standard output or error has `text`; false when the program ended without.
  bool saw(const std::string& text) {
    while (end_.out.find(text) == std::string::npos && end_.err.find(text) == std::string::npos)
      if (!read_more()) return false;
    return true;
  }

  /// The number behind `text` in what it has printed; 0: there is none.
  int number_behind(const std::string& text) const {
    const auto at = end_.out.find(text);
    return at == std::string::npos ? 0 : std::atoi(end_.out.c_str() + at + text.size());
  }

  /// Everything it printed, and how it ended.
  ProgramEnd wait() {
    while (read_more()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    end_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return std::move(end_);
  }

 private:
  /// Whether one of `settings` is for the same variable as `entry`.
  static bool names(const std::vector<std::string>& settings, const std::string& entry) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    return std::ranges::any_of(settings, [&](const std::string& setting) { return setting.starts_with(name); });
  }

  bool read_more() {
    pollfd watched[2] = {{out_ ? out_.get() : -1, POLLIN, 0}, {err_ ? err_.get() : -1, POLLIN, 0}};
    if (!out_ && !err_) return false;
    ::poll(watched, 2, -1);
    if (watched[0].revents) take(out_, end_.out);
    if (watched[1].revents) take(err_, end_.err);
    return true;
  }
  static void take(OwnedFd& from, std::string& into) {
    char block[4096];
    const ssize_t got = ::read(from.get(), block, sizeof block);
    if (got > 0)
      into.append(block, static_cast<std::size_t>(got));
    else
      from = OwnedFd();
  }

  pid_t pid_ = -1;
  OwnedFd out_;
  OwnedFd err_;
  ProgramEnd end_;
};

inline ProgramEnd run_program(std::vector<std::string> words, const std::vector<std::string>& settings = {}) {
  return RunningProgram(std::move(words), settings).wait();
}

/// build/bin/tutti of this build.
inline std::string tutti_program() {
  return TUTTI_BINARY_DIR "/bin/tutti";
}

}  // namespace tutti
