#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

/// The script behind the fake libnvidia-ml.so.1 (README.md describes its lines). Read again whenever its file changes.
/// All functions are thread-safe.
namespace fake {

enum Code {
  kSuccess = 0,
  kUninitialised = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kGpuIsLost = 15,
  kArgumentVersionMismatch = 25,
};

using Fields = std::map<std::string, std::string>;

/// A GPU or a MIG slice. Its address is its handle and stays good, whatever becomes of the GPU.
struct Card;

struct Process {
  unsigned pid = 0;
  unsigned long long memory = 0;
  unsigned util = 0;
  bool draws = false;  // a graphics process
};

struct Event {
  const Card* card = nullptr;
  unsigned long long xid = 0;
};

/// nvmlInit and nvmlShutdown: the list of GPUs is made at the first of nested starts, as the real library's is.
int start();
int stop();

/// Begins a call: waits while the script makes it hang. Returns the error code that the script sets for it, kGpuIsLost
/// for a GPU that is not there, or kSuccess.
int enter(const char* call, const Card* card = nullptr);

std::optional<std::string> system_field(const std::string& key);
unsigned card_count();
/// Null where there is no such index.
const Card* card_at(unsigned index);
const Card* slice_at(const Card* card, unsigned index);
unsigned slice_count(const Card* card);

std::optional<std::string> field(const Card* card, const std::string& key);
std::optional<unsigned long long> number(const Card* card, const std::string& key);
std::optional<double> real(const Card* card, const std::string& key);

/// Processes of the script and of programs that say that they use the GPU.
std::vector<Process> processes(const Card* card);
/// Watts and joules, by the script or by what the GPU has been doing.
std::optional<double> power(const Card* card);
std::optional<double> energy(const Card* card);
unsigned utilisation(const Card* card);

/// "PIX", "NV4" …, as the script has it for a pair in either order.
std::optional<std::string> between(const Card* a, const Card* b);
/// The GPUs that `GPU` has NVLinks to, one entry per link; null: to a switch.
std::vector<const Card*> links(const Card* card);

/// The next event that the script holds for a GPU and that was not taken before.
std::optional<Event> take_event();

}  // namespace fake
