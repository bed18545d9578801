#pragma once

#include <memory>
#include <string>

#include "link/control/control_socket.h"
#include "transcribe/batch/batch_run.h"

namespace tutti {

/// The answer of a batch to a request on its control socket (link/control/control_socket.h).
std::string answer_control(BatchControl& control, const std::string& request);

/// Opens the socket by which `tutti top` sees and steers a run. Null, with a line in the log, where there can be none:
/// the run goes on without. It reads from the control, so it goes first.
std::unique_ptr<ControlSocket> open_control_socket(BatchControl& control);

}  // namespace tutti
