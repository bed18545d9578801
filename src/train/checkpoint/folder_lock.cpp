#include "train/checkpoint/folder_lock.h"

#include <fcntl.h>

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/system_error.h"

namespace tutti {

Result<OwnedFd> hold_folder(const std::filesystem::path& out, Seconds patience) {
  constexpr auto kBetween = std::chrono::milliseconds(50);
  if (auto made = make_folders(out); !made) return tl::unexpected<Error>(made.error());
  // A file, not the folder itself: NFS locks only what is open for writing.
  const auto path = out / "training.lock";
  OwnedFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) return fail_errno(path.string(), "could not be opened");
  const auto until = Clock::real().now() + patience;
  for (bool told = false;; told = true) {
    const auto taken = try_lock_file(fd.get(), path.string(), "");
    if (!taken && taken.error().fault == Fault::unsupported) {
      log(Level::warning, taken.error().what + ": a second training into " + out.string() + " would not be noticed");
      return OwnedFd();
    }
    if (!taken) return tl::unexpected<Error>(taken.error());
    if (*taken) return fd;
    if (Clock::real().now() >= until)
      return fail(Fault::refused, out.string() + ": another process is training into this folder",
                  "Wait for it to end, or name another folder with --out");
    if (!told) log(Level::info, out.string() + ": another process is training into it; waiting a moment for its end");
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace tutti
