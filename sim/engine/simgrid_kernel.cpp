// The kernel on SimGrid: the module's only source, and the only file that names SimGrid.
#include "sim/engine/kernel.hpp"

#include <utility>
#include <vector>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <xbt/log.h>

namespace sg4 = simgrid::s4u;

namespace replisim::engine {

namespace {

std::unique_ptr<sg4::Engine> make_engine(const std::map<std::string, std::string>& options) {
  xbt_log_control_set("root.thres:critical");
  std::vector<std::string> arguments = {"replisim"};
  for (const auto& [key, value] : options)
    arguments.push_back("--cfg=" + key + ":" + value);
  std::vector<char*> argv;
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  return std::make_unique<sg4::Engine>(&argc, argv.data());
}

class SimgridKernel final : public Kernel {
public:
  explicit SimgridKernel(const std::map<std::string, std::string>& options) : engine_(make_engine(options)) {
    look_at_clock();
  }

  std::unique_ptr<Semaphore> semaphore(unsigned count) override {
    return std::make_unique<Counter>(*this, count);
  }

  void add_host(const std::string& name, double speed, int cpus, std::function<double()> capacity) override {
    // Two states of the same speed: going from one to the other makes SimGrid share the CPUs anew.
    auto* host = zone_->create_host(name, std::vector<double>(2, speed));
    host->set_core_count(cpus);
    if (capacity)
      host->set_sharing_policy(sg4::Host::SharingPolicy::NONLINEAR,
                               [capacity = std::move(capacity)](double, int) { return capacity(); });
    host->seal();
    hosts_.push_back(host);
  }

  void share_anew(int host) override { at(host)->set_pstate(1 - at(host)->get_pstate()); }

  void add_link(int from, int to, double bytes_per_s) override {
    auto* link = zone_->create_split_duplex_link(link_name(from, to), bytes_per_s);
    link->set_latency(0)->seal(); // propagation is added by the streams, so that it overlaps
    const auto route = [&](int a, int b, sg4::LinkInRoute::Direction direction) {
      zone_->add_route(at(a)->get_netpoint(), at(b)->get_netpoint(), nullptr, nullptr, {{link, direction}},
                       false);
    };
    route(from, to, sg4::LinkInRoute::Direction::UP);
    route(to, from, sg4::LinkInRoute::Direction::DOWN);
  }

  void set_bandwidth(int from, int to, double bytes_per_s) override {
    for (const std::string& name : {link_name(from, to), link_name(to, from)})
      for (const char* direction : {"_UP", "_DOWN"})
        if (auto* link = sg4::Link::by_name_or_null(name + direction))
          link->set_bandwidth(bytes_per_s);
  }

  void execute(int host, double work, int threads) override {
    if (threads == 1)
      sg4::this_actor::execute(work);
    else // one activity that shares as `threads` of one thread would
      sg4::this_actor::thread_execute(at(host), work, threads);
    look_at_clock();
  }

  void transfer(int from, int to, std::uint64_t bytes) override {
    sg4::Comm::sendto(at(from), at(to), bytes);
    look_at_clock();
  }

  Timer* set_timer(double date_s, std::function<void()> callback) override {
    auto* timer = SimgridTimer::set(date_s, [this, callback = std::move(callback)] {
      look_at_clock();
      callback();
    });
    return reinterpret_cast<Timer*>(timer);
  }

  void remove_timer(Timer* timer) override { reinterpret_cast<SimgridTimer*>(timer)->remove(); }

  void start(const std::string& name, int host, std::function<void()> body, bool daemon) override {
    auto actor = sg4::Actor::create(name, at(host), [this, body = std::move(body)] {
      look_at_clock();
      body();
    });
    if (daemon)
      actor->daemonize();
  }

  void on_deadlock(std::function<void()> callback) override {
    sg4::Engine::on_deadlock_cb([this, callback = std::move(callback)] {
      look_at_clock();
      callback();
    });
  }

  void run() override {
    zone_->seal();
    engine_->run();
    look_at_clock();
  }

private:
  using SimgridTimer = simgrid::kernel::timer::Timer;

  class Counter final : public Semaphore {
  public:
    Counter(SimgridKernel& kernel, unsigned count)
        : kernel_(kernel), semaphore_(sg4::Semaphore::create(count)) {}
    void acquire() override {
      semaphore_->acquire();
      kernel_.look_at_clock();
    }
    void release() override { semaphore_->release(); }

  private:
    SimgridKernel& kernel_;
    sg4::SemaphorePtr semaphore_;
  };

  void look_at_clock() { clock_s_ = sg4::Engine::get_clock(); }
  sg4::Host* at(int host) const { return hosts_.at(static_cast<std::size_t>(host)); }
  std::string link_name(int from, int to) const { return at(from)->get_name() + "-" + at(to)->get_name(); }

  std::unique_ptr<sg4::Engine> engine_;
  sg4::NetZone* zone_ = sg4::create_full_zone("world");
  std::vector<sg4::Host*> hosts_;
};

} // namespace

} // namespace replisim::engine

// What the program finds in the module by name.
extern "C" {

replisim::engine::Kernel* replisim_make_kernel(const std::map<std::string, std::string>* options) {
  return new replisim::engine::SimgridKernel(*options);
}

void replisim_kernel_version(int* major, int* minor, int* patch) { sg_version_get(major, minor, patch); }
}
