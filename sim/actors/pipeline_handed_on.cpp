// Subscribers that publish what they receive.
#include "sim/actors/pipeline.hpp"
#include "sim/scenario/handing_on.hpp"

namespace replisim {

/// Where no slot of its server decodes what a subscription receives, its WAL is no more than bytes.
void Pipeline::add_handed_on(const Subscription& subscription, SlotSide& side) {
  if (slots_that_hand_on(scenario_, subscription).empty())
    return;
  auto& here = publishers_.at(subscription.server);
  HandedOn::Params params;
  params.from = side.publisher;
  params.server = subscription.server;
  params.subscription = subscription.name;
  params.tables = &scenario_.tables;
  params.add_flow_record = [this, server = subscription.server](const FlowLoad& flow) {
    return add_flow_record(flow, server, false);
  };
  side.handed_on = std::make_unique<HandedOn>(world_, params, *here.wal, here.state, log_);
  side.local_wal->hand_on(side.handed_on.get());
}

} // namespace replisim
