#include <sys/prctl.h>
#include <sys/socket.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/field_names.h"
#include "base/process/exit_code.h"
#include "worker/commands.h"

namespace tutti {
namespace {

Result<int> socket_number(std::string_view text) {
  int fd = -1;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), fd);
  if (bad != std::errc() || end != text.data() + text.size() || fd < 0) {
    return fail(Fault::usage, "--fd " + std::string(text) + ": expected the number of a descriptor");
  }
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    return fail(Fault::usage, "file descriptor " + std::string(text) + " is no socket",
                "`tutti` starts its workers by itself and passes one");
  }
  return fd;
}

/// The socket's number; the rest goes into `setup`.
Result<int> read_line(std::span<char*> arguments, WorkerSetup& setup) {
  Result<int> fd = fail(Fault::usage, "worker needs --fd N", "`tutti` starts its workers by itself and passes it");
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    if (i + 1 == arguments.size()) return fail(Fault::usage, std::string(name) + " needs a value");
    const std::string_view value = arguments[i + 1];
    if (name == "--fd") {
      fd = socket_number(value);
      if (!fd) return fd;
    } else if (name == "--names") {  // of fields, where the parent has no command line (base/field_names.h)
      if (value != "fields") return fail(Fault::usage, "--names " + std::string(value) + ": expected fields");
      set_field_names(FieldNames::fields);
    } else if (name == "--fault") {  // for tests of supervision
      const auto fault = parse_fault(value);
      if (!fault) return tl::unexpected<Error>(fault.error());
      setup.fault = *fault;
    } else {
      return fail(Fault::usage, "worker has no option " + std::string(name));
    }
  }
  return fd;
}

}  // namespace

int worker_command(std::span<char*> arguments, WorkerSetup setup) {
  const auto fd = read_line(arguments, setup);
  if (!fd) {
    std::fprintf(stderr, "tutti-engine: %s\n", fd.error().text().c_str());
    return kUsage;
  }
  // Die with the parent process, even by kill -9; should it be gone already, the socket is closed and shows it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ctrl+C reaches every process of the terminal: what it means for us, the control process decides.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  return run_worker(OwnedFd(*fd), setup);
}

}  // namespace tutti
