#define USE_C10D_GLOO  // as torch's library was built

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "base/log.h"
#include "model/cards/card_sum.h"
#include "model/gpu.h"
#include "train/peers/peers.h"

namespace tutti {
namespace {

constexpr std::chrono::minutes kMeeting{5};
constexpr std::chrono::hours kAnswer{1};  // between steps: whatever takes longer is done at one's own pace

class GlooPeers : public Peers {
 public:
  GlooPeers(c10::intrusive_ptr<c10d::Store> store, c10::intrusive_ptr<c10d::ProcessGroupGloo> group,
            const MeetingPlace& place, Pace pace)
      : store_(std::move(store)),
        group_(std::move(group)),
        place_(place),
        own_pace_(*store_, place.rank, place.ranks, pace) {}

  int rank() const override { return place_.rank; }
  int ranks() const override { return place_.ranks; }

  void sum(at::Tensor& tensor) override {
    if (tensor.is_cuda()) return sum_on_cards(tensor);
    std::vector<at::Tensor> one{tensor};
    group_->allreduce(one, c10d::AllreduceOptions())->wait();
  }

  /// Everybody adds to rows that only one of them fills.
  std::vector<std::string> gather(const std::string& said) override {
    auto sizes = at::zeros({place_.ranks}, at::TensorOptions(at::kLong));
    sizes[place_.rank] = static_cast<std::int64_t>(said.size());
    sum(sizes);
    const auto longest = sizes.max().item<std::int64_t>();
    auto rows = at::zeros({place_.ranks, std::max<std::int64_t>(1, longest)}, at::TensorOptions(at::kByte));
    std::memcpy(rows[place_.rank].mutable_data_ptr(), said.data(), said.size());
    sum(rows);
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < place_.ranks; ++i)
      all.emplace_back(static_cast<const char*>(rows[i].const_data_ptr()),
                       static_cast<std::size_t>(sizes[i].item<std::int64_t>()));
    return all;
  }

  Result<void> at_own_pace(const std::string& doing, const std::function<Result<void>()>& work) override {
    return own_pace_.run(doing, work);
  }

 private:
  /// From card to card where all of them can, else through the CPU.
  void sum_on_cards(at::Tensor& tensor) {
    if (!std::exchange(asked_cards_, true)) meet_cards(tensor.device().index());
    if (cards_) return cards_->sum(tensor);
    auto copy = tensor.to(at::kCPU);
    sum(copy);
    tensor.copy_(copy);
  }

  void meet_cards(int index) {
    const auto key = rank() == 0 ? gpu::card_sum_key(index) : Result<std::string>();
    const auto told = gather(key.value_or("")).front();
    auto cards =
        told.empty() ? Result<std::shared_ptr<gpu::CardSum>>() : gpu::make_card_sum(index, told, rank(), ranks());
    if (!key) log(Level::warning, "gradients are added up on the CPU: " + key.error().text());
    if (!cards) log(Level::warning, "gradients are added up on the CPU: " + cards.error().text());
    const auto all = gather(cards && *cards ? "joined" : "");
    if (std::ranges::none_of(all, &std::string::empty)) cards_ = *cards;
  }

  c10::intrusive_ptr<c10d::Store> store_;  // own_pace_'s
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  MeetingPlace place_;
  OwnPace own_pace_;
  bool asked_cards_ = false;
  std::shared_ptr<gpu::CardSum> cards_{};
};

}  // namespace

std::string name_of_process(int rank, int ranks) {
  return "process " + std::to_string(rank) + " of " + std::to_string(ranks);
}

Result<std::unique_ptr<Peers>> meet(const MeetingPlace& place, Pace pace) {
  const auto where = place.address + ":" + std::to_string(place.port);
  try {
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(place.port);
    options.isServer = place.rank == 0;
    options.numWorkers = static_cast<std::size_t>(place.ranks);
    options.timeout = kMeeting;
    const auto store = c10::make_intrusive<c10d::TCPStore>(place.address, options);
    auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.ranks,
                                                             c10d::ProcessGroupGloo::Options::create_default(kAnswer));
    return std::make_unique<GlooPeers>(store, std::move(group), place, pace);
  } catch (const std::exception& problem) {
    return fail(Fault::device,
                name_of_process(place.rank, place.ranks) + " could not meet the others at " + where + ": " +
                    std::string(problem.what()).substr(0, 200),
                "Start all of them within five minutes, with the same MASTER_ADDR and MASTER_PORT");
  }
}

}  // namespace tutti
