// The engine: everything that touches tensors, started and watched by `tutti`. Its command line is for programs.
#include <sys/prctl.h>
#include <sys/socket.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "base/build_id.h"
#include "worker/worker.h"

namespace {

constexpr int kUsage = 2;

constexpr std::string_view kHelp =
    "tutti-engine runs models for `tutti`, which starts and stops it by itself.\n"
    "To transcribe, use: tutti transcribe FILE...\n"
    "\n"
    "  tutti-engine worker --fd N   serve the control process at the other end of socket N\n"
    "  tutti-engine --version       print the build id\n";

int usage_error(const std::string& what) {
  std::fprintf(stderr, "tutti-engine: %s\n\n%s", what.c_str(), std::string(kHelp).c_str());
  return kUsage;
}

bool is_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

int serve(int fd, const tutti::WorkerSetup& options) {
  if (!is_socket(fd)) {
    return usage_error("file descriptor " + std::to_string(fd) + " is no socket: `tutti` passes one, a shell does not");
  }
  // Die with whoever started us, even by kill -9; should it be gone already, the socket is closed and says so.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ctrl+C reaches every process of the terminal: what it means for us, the control process decides.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  return tutti::run_worker(tutti::OwnedFd(fd), options);
}

int worker(std::span<char*> arguments) {
  tutti::WorkerSetup options{.build_id = std::string(tutti::build_id())};
  int fd = -1;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    if (i + 1 == arguments.size()) return usage_error(std::string(name) + " needs a value");
    const std::string_view value = arguments[i + 1];
    if (name == "--fd") {
      const auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), fd);
      if (bad != std::errc() || *end != '\0' || fd < 0) return usage_error("--fd takes a descriptor's number");
    } else if (name == "--fault") {  // for tests of supervision
      const auto fault = tutti::parse_fault(value);
      if (!fault) return usage_error(fault.error().text());
      options.fault = *fault;
    } else {
      return usage_error("worker has no option " + std::string(name));
    }
  }
  if (fd < 0) return usage_error("worker needs --fd N");
  return serve(fd, options);
}

}  // namespace

int main(int argc, char** argv) {
  const std::span arguments(argv + 1, argv + argc);
  if (arguments.empty()) return usage_error("no command was given");
  const std::string_view command = arguments[0];
  if (command == "worker") return worker(arguments.subspan(1));
  if (command == "--version") {
    std::printf("tutti-engine %s\n", std::string(tutti::build_id()).c_str());
    return 0;
  }
  if (command == "--help" || command == "-h") {
    std::fputs(std::string(kHelp).c_str(), stdout);
    return 0;
  }
  return usage_error("no command " + std::string(command));
}
