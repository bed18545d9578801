#pragma once

#include <math.h>

#include "model/decoder_step/jobs.h"
#include "model/decoder_step/team.h"

namespace tutti {

/// What the selection of a token looks for in a row of logits (SelectJob). A unit is a sequence. Its row, 207 kB of a
/// whole vocabulary, is read six times for two tokens, from the cache where it fits there.
struct SelectBody {
  static constexpr const char* kName = "select";

  template <class Team>
  static TUTTI_TEAM void run(const Team& team, const SelectJob& job, std::int64_t unit, float*) {
    const auto index = static_cast<std::int32_t>(unit);
    Row row(team, job, index);
    const auto text = part(team, row, 0, job.timestamp_begin), times = part(team, row, job.timestamp_begin, job.vocab);
    const float all_times = times.best + logf(times.sum);
    row.no_text = row.weighs_times && all_times > text.best;
    const float base = base_of(row.no_text ? times.most : fmaxf(text.most, times.most));
    const float of_text = row.no_text ? 0 : text.sum * expf(text.most - base);
    const float log_sum = logf(of_text + times.sum * expf(times.most - base));
    write(team, job, 0, index, all_times);
    write(team, job, 1, index, times.best);
    write(team, job, 2, index, text.best);
    Token last{INFINITY, -1};
    for (std::int32_t rank = 0; rank < job.likeliest; ++rank) {
      last = behind(team, row, job.vocab, last);
      write(team, job, 3 + rank, index, last.logit - base - log_sum);
      write(team, job, 3 + job.likeliest + rank, index, static_cast<float>(last.id));
    }
    if (job.no_speech >= 0) write(team, job, 3 + 2 * job.likeliest, index, no_speech(team, job, index));
  }

 private:
  /// The logits as history, options and rules leave them.
  struct Row {
    const float* logits;
    const std::int32_t* mask;
    std::int32_t timestamp_begin, text_from, time_from, time_to;
    bool weighs_times;
    bool no_text = false;

    template <class Team>
    TUTTI_TEAM Row(const Team& team, const SelectJob& job, std::int32_t index) : timestamp_begin(job.timestamp_begin) {
      const auto input = [&](int column) { return team.load(job.inputs + column * job.rows + index); };
      logits = job.logits + std::int64_t{input(SelectJob::kNewest)} * job.vocab;
      mask = job.masks + std::int64_t{input(SelectJob::kMask)} * job.vocab;
      text_from = input(SelectJob::kTextFrom);
      time_from = input(SelectJob::kTimeFrom);
      time_to = input(SelectJob::kTimeTo);
      weighs_times = input(SelectJob::kWeighsTimes) != 0;
    }

    template <class Team>
    TUTTI_TEAM float at(const Team& team, std::int32_t id) const {
      const float logit = team.load(logits + id);
      const bool is_out = id < timestamp_begin ? no_text || id < text_from : id < time_from || id >= time_to;
      return team.load(mask + id) != 0 || is_out ? -INFINITY : logit;
    }
  };

  /// The logits as the network gives them.
  struct WholeRow {
    const float* logits;

    template <class Team>
    TUTTI_TEAM float at(const Team& team, std::int32_t id) const {
      return team.load(logits + id);
    }
  };

  struct Token {
    float logit;
    std::int32_t id;

    /// By logits, of equals by ids.
    TUTTI_TEAM bool is_before(float other, std::int32_t other_id) const {
      return other < logit || (other == logit && other_id > id);
    }
  };

  /// Text or timestamps: the largest logit that is a number, the sum of exp(logit - base_of(that)), which is NaN where
  /// a logit is, and then the likeliest one's logit is NaN, too.
  struct Part {
    float most, sum, best;
  };

  /// So that the sum of nothing is 0.
  static TUTTI_TEAM float base_of(float most) { return most == -INFINITY ? 0 : most; }

  /// fn(logit, id) for a thread's ids of [first, last), and behind them for minus infinity.
  template <class Team, class AnyRow, class Fn>
  static TUTTI_TEAM void each_id(const Team& team, const AnyRow& row, std::int32_t first, std::int32_t last, Fn fn) {
    constexpr int kAhead = 8;  // that are loaded before the first is used
    for (auto id = first; id < last; id += kAhead * kThreads) {
      float logits[kAhead];
      for (int i = 0; i < kAhead; ++i)
        logits[i] = id + i * kThreads < last ? row.at(team, id + i * kThreads) : -INFINITY;
      for (int i = 0; i < kAhead; ++i) fn(logits[i], id + i * kThreads);
    }
  }

  template <class Team, class AnyRow>
  static TUTTI_TEAM Part part(const Team& team, const AnyRow& row, std::int32_t first, std::int32_t last) {
    const float most = team.greatest([&](int thread) {
      float greatest = -INFINITY;
      each_id(team, row, first + thread, last, [&](float logit, std::int32_t) { greatest = fmaxf(greatest, logit); });
      return greatest;
    });
    const float base = base_of(most);
    const float sum = team.total([&](int thread) {
      float all = 0;
      each_id(team, row, first + thread, last, [&](float logit, std::int32_t) { all += expf(logit - base); });
      return all;
    });
    return {most, sum, sum == sum ? most : sum};
  }

  /// The likeliest token of those behind `last`; where there is none its id is 0.
  template <class Team>
  static TUTTI_TEAM Token behind(const Team& team, const Row& row, std::int32_t vocab, const Token& last) {
    const float most = team.greatest([&](int thread) {
      float greatest = -INFINITY;
      each_id(team, row, thread, vocab, [&](float logit, std::int32_t id) {
        if (last.is_before(logit, id)) greatest = fmaxf(greatest, logit);
      });
      return greatest;
    });
    // Ids are exact as floats.
    const float first = -team.greatest([&](int thread) {
      auto smallest = static_cast<float>(vocab);
      each_id(team, row, thread, vocab, [&](float logit, std::int32_t id) {
        if (logit == most && last.is_before(logit, id)) smallest = fminf(smallest, static_cast<float>(id));
      });
      return -smallest;
    });
    return {most, first < static_cast<float>(vocab) ? static_cast<std::int32_t>(first) : 0};
  }

  /// softmax(logits behind the start of the transcript)[no_speech], whatever is forbidden.
  template <class Team>
  static TUTTI_TEAM float no_speech(const Team& team, const SelectJob& job, std::int32_t index) {
    const auto sot = team.load(job.inputs + SelectJob::kSot * job.rows + index);
    if (sot < 0) return 0;
    const WholeRow row{job.logits + std::int64_t{sot} * job.vocab};
    const auto all = part(team, row, 0, job.vocab);
    return expf(row.at(team, job.no_speech) - base_of(all.most)) / all.sum;
  }

  template <class Team>
  static TUTTI_TEAM void write(const Team& team, const SelectJob& job, std::int32_t line, std::int32_t row,
                               float value) {
    team.each([&](int thread) {
      if (thread == 0) job.found[std::int64_t{line} * job.rows + row] = static_cast<double>(value);
    });
  }
};

}  // namespace tutti
