// A monitor: events of three processes whose clocks differ come in, and leave in the order and at
// the times of one clock, while the program runs.
//
//     c++ -std=c++11 monitor.cpp $(pkg-config --cflags --libs retime) -o monitor
//     ./monitor
//
// Process 1 is 40 ticks behind process 0, process 2 is 25 ahead. Messages take 10 ticks, and
// now and then all meet at a barrier.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <retime.h>

namespace {

void must(retime_status status) {
    if (status != RETIME_STATUS_OK)
        throw std::runtime_error(retime_error());
}

// A filter that ends with its owner.
class Filter {
  public:
    Filter(const std::vector<std::uint32_t> &clocks, const std::vector<const char *> &options) {
        std::vector<const char *> words(options);
        words.push_back(nullptr);
        retime_filter *made = nullptr;
        must(retime_filter_make(clocks.data(), clocks.size(), words.data(), &made));
        filter_.reset(made);
    }

    void push(std::uint32_t location, std::uint64_t time, std::uint64_t payload) {
        must(retime_filter_push(filter_.get(), location, time, payload));
    }
    void send(std::uint32_t location, std::uint64_t time, std::uint64_t id, std::uint64_t payload) {
        must(retime_filter_send(filter_.get(), location, time, id, payload));
    }
    void receive(std::uint32_t location, std::uint64_t time, std::uint64_t id,
                 std::uint64_t payload) {
        must(retime_filter_receive(filter_.get(), location, time, id, payload));
    }
    void barrier(std::uint32_t location, std::uint64_t enter, std::uint64_t leave,
                 std::uint64_t id, std::uint64_t payload) {
        const retime_operation operation = {id, RETIME_CLASS_ALL_TO_ALL, 3, location, 0, 0, 0};
        must(retime_filter_enter(filter_.get(), location, enter, &operation, payload));
        must(retime_filter_leave(filter_.get(), location, leave, &operation, payload + 1));
    }
    // Nothing comes from a location before a time any more, so that others need not wait for it.
    void heartbeat(std::uint32_t location, std::uint64_t time) {
        must(retime_filter_heartbeat(filter_.get(), location, time));
    }
    void close(std::uint32_t location) { must(retime_filter_close(filter_.get(), location)); }

    // The next event that can leave; false if there is none now.
    bool pop(retime_corrected &event) {
        const retime_status status = retime_filter_pop(filter_.get(), &event);
        if (status == RETIME_STATUS_EMPTY)
            return false;
        must(status);
        return true;
    }
    retime_filter_state state() const {
        retime_filter_state state;
        must(retime_filter_counts(filter_.get(), &state));
        return state;
    }

  private:
    struct Free {
        void operator()(retime_filter *filter) const { retime_filter_free(filter); }
    };
    std::unique_ptr<retime_filter, Free> filter_;
};

struct Seen {
    std::uint64_t events = 0;
    std::uint64_t last = 0;
    bool in_order = true;
};

void drain(Filter &filter, const std::vector<std::string> &names, Seen &seen) {
    retime_corrected event;
    while (filter.pop(event)) {
        seen.in_order = seen.in_order && event.time >= seen.last;
        seen.last = event.time;
        seen.events += 1;
        std::printf("%6llu  process %u, recorded %6llu: %s\n",
                    static_cast<unsigned long long>(event.time), event.location,
                    static_cast<unsigned long long>(event.recorded),
                    names[event.payload].c_str());
    }
}

int run() {
    // What each payload stands for.
    const std::vector<std::string> names = {"sends a number", "receives a number", "enters the barrier",
                                            "leaves the barrier", "computes"};
    Filter filter({0, 1, 2}, {"--ticks-per-second", "1000000", "--min-delay", "10ticks",
                              "--max-clock-difference", "100ticks", "--delay", "6ms"});
    Seen seen;
    const std::uint64_t behind[] = {0, 40, 0}, ahead[] = {0, 0, 25};
    const auto local = [&](std::uint32_t process, std::uint64_t time) {
        return time - behind[process] + ahead[process];
    };
    for (std::uint64_t round = 0; round < 20; round++) {
        const std::uint64_t now = 10000 + 500 * round;
        const std::uint32_t from = round % 3, to = (round + 1) % 3;
        filter.push(from, local(from, now), 4);
        filter.send(from, local(from, now + 20), round, 0);
        filter.receive(to, local(to, now + 30), round, 1);
        if (round % 5 == 4)
            for (std::uint32_t process = 0; process < 3; process++)
                filter.barrier(process, local(process, now + 100 + 10 * process),
                               local(process, now + 135), round, 2);
        for (std::uint32_t process = 0; process < 3; process++)
            filter.heartbeat(process, local(process, now + 450));
        drain(filter, names, seen);
    }
    for (std::uint32_t process = 0; process < 3; process++)
        filter.close(process);
    drain(filter, names, seen);
    const retime_filter_state state = filter.state();
    std::printf("%llu events came, %llu left; %llu messages were violated, %llu events forced\n",
                static_cast<unsigned long long>(state.events),
                static_cast<unsigned long long>(state.released),
                static_cast<unsigned long long>(state.violated),
                static_cast<unsigned long long>(state.forced));
    return seen.in_order && seen.events == state.events && state.held == 0 ? EXIT_SUCCESS
                                                                           : EXIT_FAILURE;
}

} // namespace

int main() {
    try {
        return run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "monitor: %s\n", error.what());
        return 2;
    }
}
