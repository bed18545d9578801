#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {

/// Takes the lock (flock) of what `file` has open; it goes with the last descriptor, whatever kills us. False: another
/// process has it. `thing` names the file in errors, `way_out` is what to do where its file system keeps no locks.
Result<bool> try_lock_file(int file, const std::string& thing, std::string_view way_out);

/// The same, but waits for the lock's owner.
Result<void> lock_file(int file, const std::string& thing, std::string_view way_out);

/// A process's hold on work that only one may do.
struct Hold {
  std::filesystem::path file{};  ///< is made and locked: NFS locks only what is open for writing, so no folder
  std::string other{};           ///< what another one does, with its folder: "out: another process is ..."
  std::string unnoticed{};  ///< what goes unseen where the file system keeps no locks: "a second training into out"
  std::string way_out{};    ///< hint for who finds it taken
  Seconds patience{};       ///< how long it is tried again: a killed owner may take a moment to be gone
};

/// The hold goes with the process, whatever kills it. Fault::refused while another one has it. Where the file system
/// keeps no locks, a warning names what is not noticed there, and the hold is empty.
Result<OwnedFd> take_hold(const Hold& hold);

}  // namespace tutti
