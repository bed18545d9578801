#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "transcribe/batch/batch_run.h"
#include "view/fleet/fleet_status.h"
#include "view/top/top_state.h"

namespace tutti {

// What is asked over a batch's control socket, a line of JSON each: {"do":"status"}, {"do":"drain","device":"cuda:0"},
// {"do":"resume",...} (without a device: the whole batch), {"do":"cancel","task":"17"}. Answers: {"ok":true,
// "status":{...}}, {"ok":true,"said":"..."} or {"ok":false,"error":"..."}.

/// The batch's side: does what is asked. `batch` may be null, when it is starting or ending.
std::string answer_request(std::string_view line, BatchControl* batch);

/// The asker's side.
Result<FleetStatus> ask_status(const std::filesystem::path& socket);
Result<std::string> ask_wish(const std::filesystem::path& socket, const TopWish& wish);

}  // namespace tutti
