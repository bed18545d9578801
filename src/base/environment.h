#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"

namespace tutti {

/// The variables of the environment that Tutti's libraries read and that are its own: of a user, of tests, and of who
/// looks for a fault. Those of flags, TUTTI_MODEL and the like, are cli's; what `tutti profile` shares with a run is in
/// metrics/recording_request.h.
namespace own_variables {
inline constexpr const char* kCache = "TUTTI_CACHE";                   ///< folder of what can be fetched or made again
inline constexpr const char* kState = "TUTTI_STATE";                   ///< folder of the durable store
inline constexpr const char* kConfig = "TUTTI_CONFIG";                 ///< the settings file of commands
inline constexpr const char* kEngine = "TUTTI_ENGINE";                 ///< another tutti-engine than that beside tutti
inline constexpr const char* kEngineWrapper = "TUTTI_ENGINE_WRAPPER";  ///< a debugger that runs the engine
inline constexpr const char* kInstructions = "TUTTI_INSTRUCTIONS";     ///< the most of the processor's that is used
inline constexpr const char* kStep = "TUTTI_STEP";                     ///< how decoder steps run on a GPU
inline constexpr const char* kDecoder = "TUTTI_DECODER";               ///< tests: the program that decodes audio
inline constexpr const char* kEmulator = "TUTTI_EMULATOR";             ///< tests: the program that plays emulated GPUs
inline constexpr const char* kNvml = "TUTTI_NVML";                     ///< tests: NVIDIA's management library
inline constexpr const char* kNvidiaSmi = "TUTTI_NVIDIA_SMI";          ///< tests: the program nvidia-smi
inline constexpr const char* kFakeNvml = "TUTTI_FAKE_NVML";            ///< tests: the script of GPUs that are not there
inline constexpr const char* kProfileSlowed = "TUTTI_PROFILE_SLOWED";  ///< tests: a stage slower than described
}  // namespace own_variables

/// An environment variable that is set, and not to nothing.
std::optional<std::string> variable(const char* name);

/// The whole number in one. Fault::usage where it is not set, no number, or below `least`.
Result<int> number_variable(const char* name, int least);

/// How much a field note's program is to say.
enum class LogDetail { debug, info, warning, error };

/// What the variable of a field note's program requests: DEBUG, INFO, WARNING or ERROR, in any case; info where it is
/// not set. Fault::usage for another word.
Result<LogDetail> log_level_variable(const char* name);

/// This machine's name; empty where the system gives none.
std::string host_name();

/// The user's home: $HOME, else the folder from the user database, else /tmp.
std::filesystem::path home_folder();

/// The value of the variable `xdg`, else `below_home` of the user's home.
std::filesystem::path xdg_home(const char* xdg, const std::filesystem::path& below_home);

/// Tutti's own folder of some kind: the value of the variable `own`, else "tutti" in that of `xdg`, else "tutti" in
/// `below_home` of the user's home.
std::filesystem::path xdg_folder(const char* own, const char* xdg, const std::filesystem::path& below_home);

}  // namespace tutti
