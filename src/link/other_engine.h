#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "link/engine_command.h"

namespace tutti {

/// An engine of others that speaks our protocol and takes PCM (docs/engines.md): how it is started, and what it has
/// reported of itself.
struct OtherEngine {
  EngineCommand command{};
  std::string name{};                    // with its version: "faster-whisper 1.2.1"
  std::vector<std::string> abilities{};  // options that it takes: "language", "beam_size"
  std::string options = "{}";            // TranscribeWindow::options of every window

  bool can(std::string_view option) const;
};

/// Starts the engine, waits for its Hello at most `patience`, and ends it again: it has no model then. Blocks.
/// Fault::usage for a command that no shell would take, ::missing for a program that is not there, ::unsupported for
/// another version of the protocol, ::corrupt for what is no Hello, ::device where it ends or is silent, with what it
/// wrote last.
Result<OtherEngine> meet_engine(std::string_view command, Seconds patience = Seconds(60));

}  // namespace tutti
