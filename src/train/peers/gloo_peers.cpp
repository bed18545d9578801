#define USE_C10D_GLOO  // as torch's library was built

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "base/log.h"
#include "base/process/exit_code.h"
#include "model/gpu.h"
#include "model/gpu/card_sum.h"
#include "train/peers/peers.h"

namespace tutti {
namespace {

constexpr std::chrono::minutes kMeeting{5};
constexpr std::chrono::hours kAnswer{1};  // between steps: whatever takes longer uses run_and_wait

class GlooPeers : public Peers {
 public:
  GlooPeers(c10::intrusive_ptr<c10d::Store> store, c10::intrusive_ptr<c10d::ProcessGroupGloo> group,
            const Rendezvous& rendezvous, WaitLimits limits)
      : store_(std::move(store)),
        group_(std::move(group)),
        rendezvous_(rendezvous),
        rank_monitor_(*store_, rendezvous.rank, rendezvous.ranks, limits) {}

  int rank() const override { return rendezvous_.rank; }
  int ranks() const override { return rendezvous_.ranks; }

  void sum(at::Tensor& tensor) override {
    if (tensor.is_cuda()) return sum_on_cards(tensor);
    std::vector<at::Tensor> one{tensor};
    group_->allreduce(one, c10d::AllreduceOptions())->wait();
  }

  /// Every process adds its own row; the other rows of its tensor are zeros.
  std::vector<std::string> gather(const std::string& own) override {
    auto sizes = at::zeros({rendezvous_.ranks}, at::TensorOptions(at::kLong));
    sizes[rendezvous_.rank] = static_cast<std::int64_t>(own.size());
    sum(sizes);
    const auto longest = sizes.max().item<std::int64_t>();
    auto rows = at::zeros({rendezvous_.ranks, std::max<std::int64_t>(1, longest)}, at::TensorOptions(at::kByte));
    std::memcpy(rows[rendezvous_.rank].mutable_data_ptr(), own.data(), own.size());
    sum(rows);
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < rendezvous_.ranks; ++i)
      all.emplace_back(static_cast<const char*>(rows[i].const_data_ptr()),
                       static_cast<std::size_t>(sizes[i].item<std::int64_t>()));
    return all;
  }

  Result<void> run_and_wait(const std::string& doing, const std::function<Result<void>()>& work) override {
    return rank_monitor_.run(doing, work);
  }

 private:
  /// From GPU to GPU where all of them can, else through the CPU.
  void sum_on_cards(at::Tensor& tensor) {
    if (!std::exchange(requested_devices_, true)) meet_cards(tensor.device().index());
    if (cards_) return cards_->sum(tensor);
    auto copy = tensor.to(at::kCPU);
    sum(copy);
    tensor.copy_(copy);
  }

  void meet_cards(int index) {
    const auto key = rank() == 0 ? gpu::card_sum_key(index) : Result<std::string>();
    const auto id = gather(key.value_or("")).front();
    auto cards = id.empty() ? Result<std::shared_ptr<gpu::CardSum>>() : gpu::make_card_sum(index, id, rank(), ranks());
    if (!key) log(Level::warning, "gradients are added up on the CPU: " + key.error().text());
    if (!cards) log(Level::warning, "gradients are added up on the CPU: " + cards.error().text());
    const auto all = gather(cards && *cards ? "joined" : "");
    if (std::ranges::any_of(all, &std::string::empty)) return;
    cards_ = *cards;
    // The thread that trains waits for a stream that never goes on: no exception reaches it. Files are written whole or
    // not at all, so nothing is lost behind the newest checkpoint.
    rank_monitor_.watch([sum = cards_] { return sum->is_pending(); },
                        [](const Error& error) {
                          log(Level::error, error.text());
                          std::_Exit(kNothingRan);
                        });
  }

  c10::intrusive_ptr<c10d::Store> store_;  // rank_monitor_'s
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  Rendezvous rendezvous_;
  bool requested_devices_ = false;
  std::shared_ptr<gpu::CardSum> cards_{};
  RankMonitor rank_monitor_;
};

}  // namespace

std::string name_of_process(int rank, int ranks) {
  return "process " + std::to_string(rank) + " of " + std::to_string(ranks);
}

Result<std::unique_ptr<Peers>> connect(const Rendezvous& rendezvous, WaitLimits limits) {
  const auto where = rendezvous.address + ":" + std::to_string(rendezvous.port);
  try {
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(rendezvous.port);
    options.isServer = rendezvous.rank == 0;
    options.numWorkers = static_cast<std::size_t>(rendezvous.ranks);
    options.timeout = kMeeting;
    const auto store = c10::make_intrusive<c10d::TCPStore>(rendezvous.address, options);
    auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rendezvous.rank, rendezvous.ranks,
                                                             c10d::ProcessGroupGloo::Options::create_default(kAnswer));
    return std::make_unique<GlooPeers>(store, std::move(group), rendezvous, limits);
  } catch (const std::exception& problem) {
    return fail(Fault::device,
                name_of_process(rendezvous.rank, rendezvous.ranks) + " could not meet the others at " + where + ": " +
                    std::string(problem.what()).substr(0, 200),
                "Start all of them within five minutes, with the same MASTER_ADDR and MASTER_PORT");
  }
}

}  // namespace tutti
