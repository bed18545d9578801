#pragma once

#include <math.h>

#include "model/decoder_step/jobs.h"
#include "model/decoder_step/team.h"

namespace tutti {

/// The best monotonic path through each row's scores (AlignJob). A warp has a row: its members share the symbols of a
/// frame among them, and the next frame needs all of these, so that nothing waits for other warps. A unit is as many
/// rows as a team has warps.
struct AlignBody {
  static constexpr const char* kName = "align";
  static constexpr int kMembers = 32;
  static constexpr int kRows = kThreads / kMembers;
  struct Lane {};

  /// Two rows of sums for each of a unit's rows, with a column of -infinity in front.
  TUTTI_BOTH static std::int64_t shared_floats(std::int32_t symbols) { return std::int64_t{2} * kRows * (symbols + 1); }

  template <class Team>
  static TUTTI_TEAM void run(const Team& team, const AlignJob& job, std::int64_t unit, float* shared) {
    team.template each_group<Lane, kMembers>([&](auto& group) {
      const auto row = unit * kRows + group.index;
      if (row < job.rows) align(team, group, job, row, shared + std::int64_t{2} * group.index * (job.symbols + 1));
    });
  }

 private:
  template <class Team, class Group>
  static TUTTI_TEAM void align(const Team& team, Group& group, const AlignJob& job, std::int64_t row, float* before) {
    const auto symbols = static_cast<std::int32_t>(team.load(job.symbol_counts + row));
    const auto frames = static_cast<std::int32_t>(team.load(job.frame_counts + row));
    const float* scores = job.scores + row * job.frames * job.symbols;
    std::int32_t* moves = job.moves + row * move_words(job.frames) * job.symbols;
    float* now = before + job.symbols + 1;
    group.step([&](Lane&, int member) {
      for (std::int32_t i = member; i <= symbols; i += kMembers) before[i] = i == 1 ? team.load(scores) : -INFINITY;
      if (member == 0) now[0] = -INFINITY;
    });
    for (std::int32_t frame = 1; frame < frames; ++frame) {
      group.step([&](Lane&, int member) {
        for (std::int32_t i = member; i < symbols; i += kMembers) {
          const float stays = before[i + 1], moved = before[i];
          const auto bit = static_cast<std::uint32_t>(moved > stays) << (frame % kWordBits);
          std::int32_t* word = moves + std::int64_t{frame / kWordBits} * job.symbols + i;
          const bool is_new = frame == 1 || frame % kWordBits == 0;
          *word = static_cast<std::int32_t>((is_new ? 0 : static_cast<std::uint32_t>(*word)) | bit);
          now[i + 1] = team.load(scores + std::int64_t{frame} * job.symbols + i) + (moved > stays ? moved : stays);
        }
      });
      float* const last = before;
      before = now;
      now = last;
    }
    group.step([&](Lane&, int member) {
      std::int64_t* durations = job.durations + row * job.symbols;
      for (std::int32_t i = symbols + member; i < job.symbols; i += kMembers) durations[i] = 0;
      if (member == 0) walk_back(job, moves, symbols, frames, durations);
    });
  }

  static TUTTI_TEAM void walk_back(const AlignJob& job, const std::int32_t* moves, std::int32_t symbols,
                                   std::int32_t frames, std::int64_t* durations) {
    std::int32_t symbol = symbols - 1;
    std::int64_t lasting = 0;
    for (std::int32_t frame = frames - 1; frame >= 0; --frame) {
      ++lasting;
      if (symbol == 0) continue;
      const std::int32_t word = moves[std::int64_t{frame / kWordBits} * job.symbols + symbol];
      const bool is_first = ((static_cast<std::uint32_t>(word) >> (frame % kWordBits)) & 1U) != 0;
      if (symbol != frame && !is_first) continue;
      durations[symbol--] = lasting;
      lasting = 0;
    }
    durations[0] = lasting;
  }
};

}  // namespace tutti
