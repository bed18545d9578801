#pragma once

#include <string>

#include "transcribe/batch/batch_run.h"

namespace tutti {

/// The answer of a batch to a request on its control socket (link/control/control_socket.h).
std::string answer_control(BatchControl& control, const std::string& request);

}  // namespace tutti
