#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/once_value.h"
#include "base/owned.h"

namespace tutti {

/// The voice of a speaker, as numbers: of length 1.
using SharedVoice = OnceValue<std::vector<float>>;

/// A speaker whose voice is known: every voice of a recording that is like the clip's gets this name. The clip is
/// analysed for the first recording that needs it.
struct KnownSpeaker {
  std::string name{};
  std::filesystem::path clip{};           // a few seconds of this speaker alone
  std::shared_ptr<const OwnedFd> held{};  // keeps a clip without a name open, whose `clip` is then its descriptor's
  std::shared_ptr<SharedVoice> voice = std::make_shared<SharedVoice>();  // of the clip, for all copies of this
};

/// How many speakers a recording has, as far as that is known.
struct SpeakerCount {
  std::optional<int> exact{};
  std::optional<int> least{};
  std::optional<int> most{};
  bool operator==(const SpeakerCount&) const = default;
};

/// How the speakers of a recording are found.
struct DiarizeOptions {
  std::filesystem::path weights{};          // the folder of the two networks' weights
  SpeakerCount count{};                     // nothing: it is found out
  std::vector<KnownSpeaker> known{};        // whose names are used
  bool by_channel = false;                  // one speaker a channel of the recording, without a network
  std::optional<bool> high_quality{};       // denser windows and pieces; none: where a device is a GPU
  std::filesystem::path save_embeddings{};  // a file for the speakers' embeddings; empty: they stay in memory
};

/// A speaker of a recording, and how sure that is.
struct SpeakerSummary {
  std::string speaker{};
  double seconds = 0;                // of speech
  double cosine = 0;                 // of the voice, to the nearest other speaker's of the recording; 0: there is none
  std::string nearest{};             // that speaker; empty: there is none
  std::optional<double> known_at{};  // cosine to the clip that the name comes from
  bool is_doubtful = false;          // too little speech, or too like another speaker
};

}  // namespace tutti
