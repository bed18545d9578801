#include <sys/prctl.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/field_names.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "settings/option_table.h"
#include "worker/commands.h"

namespace tutti {
namespace {

constexpr const char* kStartedByTutti = "`tutti` starts its workers by itself and passes one";

Result<void> expect_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0) return {};
  return fail(Fault::usage, "file descriptor " + std::to_string(fd) + " is no socket", kStartedByTutti);
}

/// The socket's number; the rest goes into `setup`.
Result<int> read_line(std::span<char*> arguments, WorkerSetup& setup) {
  std::int32_t fd = -1;
  std::string names, fault;
  OptionTable table("tutti-engine worker", "");
  table.add("fd", fd);
  table.add("names", names).choices = {"fields"};  // where the parent has no command line (base/field_names.h)
  table.add("fault", fault);                       // for tests of supervision
  TRY(table.read_line_of_program(arguments));
  if (fd < 0) return fail(Fault::usage, "worker needs --fd N", kStartedByTutti);
  if (!names.empty()) set_field_names(FieldNames::fields);
  if (!fault.empty()) setup.fault = TRY(parse_fault(fault));
  TRY(expect_socket(fd));
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
