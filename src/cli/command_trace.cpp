#include "cli/command_trace.h"

#include <fcntl.h>

#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "base/try.h"
#include "metrics/event_trace.h"
#include "metrics/recording_request.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherFile = "Name another file with --trace";

}  // namespace

void add_trace(OptionTable& table, fs::path& file) {
  table.add("trace", file, "FILE",
            "write what each thread did when, while it runs, as a trace that ui.perfetto.dev opens; replaces an "
            "earlier trace only");
}

Result<void> claim_trace(OutputOwnership& files, const fs::path& file) {
  if (file.empty()) return {};
  std::error_code ignored;
  if (fs::is_fifo(file, ignored) || fs::is_socket(file, ignored))
    return fail(Fault::usage, "--trace: " + file.string() + " is a pipe, and several processes write a trace",
                "Name a file");
  return files.claim_marked(file, "--trace", kPerfettoMark);
}

Result<void> CommandTrace::begin(const fs::path& file, const OutputOwnership& files, const std::string& command) {
  if (file.empty()) return {};
  const std::string head = trace_head(command);
  std::error_code ignored;
  const bool is_device = fs::is_other(file, ignored);
  if (!is_device) TRY(files.write(file, head));
  OwnedFd there(::open(file.c_str(), O_WRONLY | O_CLOEXEC | (is_device ? 0 : O_NOFOLLOW)));
  if (!there) return fail_errno(file.string(), "cannot be opened");
  auto shared = TRY(SharedTrace::over(std::move(there), is_device ? 0 : std::ssize(head)));
  file_ = file;
  head_ = std::ssize(head);
  trace_ = std::move(shared);
  if (is_device) trace_->append(head);
  RecordingRequest request = recording_request();
  request.trace = trace_->address();
  for (const auto& [name, value] : request.environment()) ::setenv(name.c_str(), value.c_str(), 1);  // of our children
  set_recording_request(std::move(request));
  return {};
}

Result<void> CommandTrace::begin_beside(const std::vector<fs::path>& inputs, const fs::path& file,
                                        const std::string& command) {
  if (file.empty()) return {};
  OutputOwnership files(kOtherFile);
  for (const auto& input : inputs) files.add_input(input);
  if (auto claimed = claim_trace(files, file); !claimed) return claimed;
  return begin(file, files, command);
}

CommandTrace::~CommandTrace() {
  if (!trace_) return;
  trace_->cut();
  if (const int failure = trace_->failure()) {
    const Error why = system_error(file_.string(), "could not be written", failure);
    log(Level::error, why.what +
                          ". The trace ends there, and the run went on. Free some space, or name a file elsewhere "
                          "with --trace");
  } else if (trace_->size() == head_) {
    log(Level::warning, file_.string() + ": nothing was traced, for no stage ran");
  }
}

}  // namespace tutti
