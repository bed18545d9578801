#pragma once

#include <cstddef>
#include <vector>

namespace tutti {

/// A tone that may be keyed, by frames of a part of a unit, which is a dot of some speed.
struct KeyedFrames {
  std::vector<float> sums{};    ///< [frames + 1] of the in-phase samples before each frame
  std::vector<float> levels{};  ///< [frames + 1] the tone's level there, where its key is down
  double per_unit = 6;          ///< frames
  float samples = 1;            ///< of a frame
  float noise = 1;              ///< variance of one sample
  float spread = 0.1F;          ///< standard deviation of a mark's level, as a share of it
};

/// Frames in which the key is down.
struct PathMark {
  std::size_t from = 0, to = 0;
};

/// A symbol of sent_symbols() from its first mark to the end of its last. A space has no length.
struct PathSymbol {
  std::size_t symbol = 0;
  std::size_t from = 0, to = 0;
  float logprob = 0;  ///< of it among all symbols that these frames could be, with what is before and behind it
};

struct KeyingPath {
  float score = -1e9F;  ///< logarithm of how much likelier it is than a key that was never down
  std::vector<PathMark> marks{};
  std::vector<PathSymbol> symbols{};
};

/// What is looked for, and how.
struct PathOptions {
  double spacing = 1;       ///< the gaps between symbols and words, as a share of 3 and 7 units (Farnsworth)
  bool has_context = true;  ///< a symbol is likely by those before it; else by itself, which is quicker
  bool has_logprobs = false;
};

/// The likeliest keying of all: marks and gaps are states of about a known length, and what they spell is likely as
/// text (a hidden semi-Markov model). A beam search, which keeps a few texts for each state.
///
/// The likelihood of a mark is that of its in-phase mean under Gaussian noise, over all levels that it may have, to
/// that of noise alone. Pure; any thread.
KeyingPath likeliest_path(const KeyedFrames& frames, const PathOptions& options = {});

}  // namespace tutti
