#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tutti {

/// How many threads a step is worth, found by trying: one, where more bring nothing because other programs have the
/// cores. Most steps run with the number that is best so far. From time to time, and soon after steps have become
/// slower or faster, another number is tried alternately with it. Time is what steps have taken: there is no clock.
class ThreadChoice {
 public:
  struct Rules {
    double block = 0.02;    ///< seconds of steps with one number, then with the other
    int blocks = 5;         ///< blocks of each number in a trial: more survive chance, and cost more where one is bad
    double hopeless = 1.4;  ///< a number whose first block is slower by this is tried no further
    double worth = 1.05;    ///< more threads must make steps faster by this
    double pause = 1;       ///< seconds of steps from one trial to the next; twice as many after one without a change
    double longest_pause = 32;  ///< at most
    double drift = 1.3;         ///< steps that have become slower or faster by this are reason for a trial
  };

  /// `most` threads at first.
  explicit ThreadChoice(int most) : ThreadChoice(most, Rules{}) {}
  ThreadChoice(int most, Rules rules);

  int most() const { return sizes_.back(); }
  /// For the next step.
  int threads() const;
  /// What a step took with `threads()`. Only steps of one kind (so many rows) are expected to take the same time.
  void record(std::int64_t kind, double seconds);

 private:
  struct Usual {
    double seconds = 0;  // time of a step, a running mean
    int seen = 0;
  };
  struct Tried {
    double seconds = 0;
    double usual = 0;  // usual time of the same steps
    double ratio() const { return seconds / usual; }
  };
  struct Trial {
    std::size_t other;  // index of its size
    bool on_other = false;
    int blocks = 0;  // that are over
    double block = 0;
    Tried best{};
    Tried tried{};
  };

  std::optional<double> usual_seconds(std::int64_t kind) const;
  void learn(std::int64_t kind, double seconds);
  bool trial_is_due() const;
  void begin_trial();
  void try_step(std::optional<double> usual, double seconds);
  void end_trial(bool take_other);

  Rules rules_;
  std::vector<int> sizes_;
  std::size_t best_;
  bool go_down_ = true;
  std::map<std::int64_t, Usual> usual_{};
  double recent_ = 1;  // steps beside their usual time
  double worked_ = 0;  // seconds of steps since the last trial
  double pause_;
  std::optional<Trial> trial_{};
};

}  // namespace tutti
