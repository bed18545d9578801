#include "base/thread_choice.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

namespace tutti {
namespace {

/// A machine on which a step of one row takes seconds(threads).
class Machine {
 public:
  explicit Machine(int cores) : choice_(cores) {}

  /// So many seconds of steps; returns how long they were beside those of the best number of threads.
  double run(double seconds, const std::function<double(int)>& of_threads, std::int64_t rows = 1) {
    double spent = 0, best = 0;
    while (spent < seconds) {
      const double step = of_threads(choice_.threads()) * static_cast<double>(rows);
      double least = step;
      for (int threads = 1; threads <= choice_.most(); ++threads)
        least = std::min(least, of_threads(threads) * static_cast<double>(rows));
      choice_.record(rows, step);
      spent += step;
      best += least;
    }
    return spent / best;
  }

  int threads() const { return choice_.threads(); }
  ThreadChoice& choice() { return choice_; }

 private:
  ThreadChoice choice_;
};

double shared_out(int threads) {
  return 0.0002 + 0.001 / threads;
}

double no_help(int threads) {
  return 0.0012 + 0.0001 * (threads - 1);
}

TEST(ThreadChoice, BeginsWithAllThreads) {
  EXPECT_EQ(ThreadChoice(4).threads(), 4);
  EXPECT_EQ(ThreadChoice(1).threads(), 1);
}

TEST(ThreadChoice, OneThreadIsNeverTriedBesideAnything) {
  Machine machine(1);
  EXPECT_DOUBLE_EQ(machine.run(10, shared_out), 1);
}

TEST(ThreadChoice, KeepsAllThreadsWhereTheyHelp) {
  Machine machine(2);
  EXPECT_LT(machine.run(20, shared_out), 1.01) << "trials may cost a hundredth";
  EXPECT_EQ(machine.threads(), 2);
}

TEST(ThreadChoice, TakesOneThreadWhereMoreBringNothing) {
  Machine machine(2);
  machine.run(3, no_help);
  EXPECT_EQ(machine.threads(), 1);
}

TEST(ThreadChoice, TakesOneThreadWhereTwoAreHardlyFaster) {
  Machine machine(2);
  machine.run(3, [](int threads) { return threads == 1 ? 0.00103 : 0.001; });
  EXPECT_EQ(machine.threads(), 1);
}

TEST(ThreadChoice, FindsTheBestOfManyThreads) {
  Machine machine(16);
  machine.run(30, [](int threads) { return 0.001 / threads + 0.00005 * threads; });  // 4 to 5 are best
  EXPECT_GE(machine.threads(), 3);
  EXPECT_LE(machine.threads(), 6);
}

TEST(ThreadChoice, NoticesSoonThatOtherProgramsCame) {
  Machine machine(2);
  machine.run(60, shared_out);  // trials have become rare
  machine.run(1, [](int threads) { return threads == 1 ? 0.002 : 0.009; });
  EXPECT_EQ(machine.threads(), 1);
}

TEST(ThreadChoice, NoticesSoonThatTheyAreGone) {
  Machine machine(2);
  machine.run(30, [](int threads) { return threads == 1 ? 0.002 : 0.009; });
  ASSERT_EQ(machine.threads(), 1);
  machine.run(1, shared_out);
  EXPECT_EQ(machine.threads(), 2);
}

TEST(ThreadChoice, OtherWorkIsNoReasonToChange) {
  Machine machine(2);
  for (int turn = 0; turn < 400; ++turn) machine.run(0.01, shared_out, 1 + turn % 8);
  EXPECT_EQ(machine.threads(), 2);
}

TEST(ThreadChoice, ChoosesAlsoWhereEveryStepDiffers) {
  Machine machine(2);
  for (int turn = 0; turn < 4000; ++turn) machine.run(0.001, no_help, 1 + turn % 8);
  EXPECT_EQ(machine.threads(), 1);
}

}  // namespace
}  // namespace tutti
