#pragma once

#include <string_view>

namespace tutti {

/// The hidden command under which `tutti` is its own emulated worker.
inline constexpr std::string_view kEmulatedWorkerCommand = "emulated-worker";

/// Whether this process was started as an emulated worker; called first thing in main, as is_decode_child is.
bool is_emulated_worker(int argc, const char* const* argv);

/// Runs the worker's side of the link on kWorkerSocket and behaves as the card in its arguments (words_of): takes the
/// time that such a card would take, decodes each window as emulated_text does, and fails when it is due. One thread.
/// Returns the exit status.
int emulated_worker_main(int argc, const char* const* argv);

}  // namespace tutti
