"""What examples/make_sample.py makes its articles of. All places, people and firms are invented."""

SOURCES = ["Harbour Gazette", "The Northern Post", "Valley Wire", "Metro Daily", "Coastline News",
           "The Ledger", "Evening Courier", "Open Press Agency"]

SLOTS = {
    "town": ["Aldermoor", "Brinley", "Carrow Bay", "Dunmere", "Eastfold", "Fenwick Cross", "Garlen",
             "Hollin Vale", "Ivermouth", "Kestrel Hill", "Lowen", "Marrick", "Northam Quay", "Ottery",
             "Pellworth", "Quarry Bank", "Rushford", "Saltmarsh", "Tolworth", "Underwood"],
    "person": ["Maren Olsk", "Idris Vale", "Tomasz Breck", "Leila Farrow", "Anton Duarte", "Priya Hollis",
               "Jonah Merrit", "Sunniva Crane", "Mateo Lindqvist", "Ruth Abara", "Felix Norwood",
               "Hana Petrossian", "Oskar Finley", "Greta Mbeki", "Samir Holt", "Clara Whitlock"],
    "day": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "month": ["April", "May", "June", "July", "September", "October", "November"],
    "river": ["Arle", "Teign Water", "Mossel", "Upper Lade", "Sarn", "Whitewater"],
    "firm": ["Bright Loom Textiles", "Carrow Shipyards", "Delphin Foods", "Halden Robotics", "Kite Energy",
             "Meridian Glass", "Oak & Anvil", "Polar Freight", "Sandpiper Air", "Tessera Bank"],
    "species": ["lapwing", "otter", "marsh fritillary", "sea trout", "barn owl", "horseshoe bat"],
    "club": ["Aldermoor Rovers", "Brinley Athletic", "Dunmere United", "Garlen Town", "Ivermouth Harriers",
             "Marrick City", "Pellworth Wanderers", "Saltmarsh Albion"],
    "festival": ["Lantern Weeks", "River of Music", "Small Stages", "the Harvest Readings", "Northern Shorts"],
    "dish": ["smoked eel", "barley bread", "pickled samphire", "plum dumplings", "rye cake"],
    "device": ["a soil sensor", "a folding ramp", "a low-cost ventilator", "a tidal turbine blade",
               "a hearing aid", "a battery the size of a coin"],
    "university": ["the University of Aldermoor", "Garlen Polytechnic", "the Institute at Ottery",
                   "Northam College", "the Marrick School of Science"],
}

CLOSINGS = [
    "{person:z} said the matter would be looked at again in {month:z}, when the figures for {town:z} are known.",
    "Residents who want to comment can write to the office in {town:z} until the end of {month:z}.",
    "A spokeswoman for {firm:z} did not answer questions on {day:z} evening.",
    "People in {town:z} who were asked on {day:z} mostly shrugged and said they had heard it all before.",
    "The next meeting is open to the public and begins at half past six in the hall at {town:z}.",
    "It is the third such announcement since {month:z}, and by far the largest.",
    "Similar plans in {town:z} came to nothing after {person:z} withdrew an offer of {money:z}.",
]

TOPICS = [
    {"title": ["{town} votes for new tram line", "Trams to return to {town} after {n:70} years"],
     "lead": ["The council of {town} voted on {day} to build a tram line from the station to the harbour, the "
              "largest project in the town's history.",
              "Trams will run again in {town} after councillors approved a line through the old market late on {day}."],
     "body": ["The first {n:24} stops are to open within four years, at a cost of {money}.",
              "{person}, who led the planning group, called it \"a decision our grandchildren will thank us for\".",
              "Shopkeepers along the route fear that {n:30} months of digging will drive customers away.",
              "A petition against the closing of side streets has gathered {n:9000} names since {month}.",
              "{firm} is expected to supply the vehicles, which need no overhead wires for part of the way.",
              "Buses that now end at {town:b} will be timed to meet every second tram.",
              "About {percent} of journeys in the town are made by public transport today, among the lowest shares "
              "in the region."]},
    {"title": ["Flood warning lifted on the {river}", "{town} dries out after the {river} bursts its banks"],
     "lead": ["Families in {town} began returning home on {day} as the {river} fell below the level at which the "
              "lower streets flood.",
              "The {river} broke through a bank above {town} early on {day} and left the lower town under a metre of "
              "brown water."],
     "body": ["Firefighters carried {n:160} people from their houses, the oldest of them ninety-four.",
              "\"We heard it before we saw it, like a train that did not stop,\" said {person}, whose bakery was filled "
              "with mud.",
              "The gauge at {town:b} stood at {n:9} metres before it was swept away.",
              "Schools will stay closed until {day:b} and drinking water must be boiled.",
              "Engineers had asked for {money} to raise the bank after the flood of three years ago.",
              "Volunteers from {town:c} brought pumps, soup and {n:4000} sandbags in the night.",
              "Meteorologists expect dry weather until the end of {month}.",
              "Insurers put the first estimate of the damage at {money:b}."]},
    {"title": ["{firm} to cut {n:900} jobs in {town}", "{firm} closes its plant in {town}"],
     "lead": ["{firm} will cut {n:900} jobs at its plant in {town} by the end of {month}, the company told its staff "
              "on {day}.",
              "Workers at {firm} in {town} learned on {day} that their plant, open for {n:80} years, is to close."],
     "body": ["Sales fell by {percent} last year while the price of energy rose, the company said in a letter.",
              "Union leader {person} accused the owners of having taken {money} out of the firm in good years.",
              "Two other plants, in {town:b} and {town:c}, are not affected for now.",
              "The mayor offered to hold talks and to waive the rent on the site for two years.",
              "Apprentices are promised that they may finish their training elsewhere.",
              "Shares of the company rose by {percent:b} in the hours after the news.",
              "\"My father worked in this hall and so did his mother,\" said {person:b} at the gate.",
              "A meeting with the ministry has been arranged for {day:b}."]},
    {"title": ["{firm} doubles its profit", "Good year for {firm}"],
     "lead": ["{firm} earned {money} in the last quarter, twice as much as a year ago and more than analysts had "
              "expected.",
              "Strong demand abroad lifted the quarterly profit of {firm} to {money}, the company reported on {day}."],
     "body": ["Revenue grew by {percent}, helped by the factory in {town} that opened in {month}.",
              "Chief executive {person} said that orders already fill the books until next summer.",
              "The company plans to hire {n:600} people, most of them in {town:b}.",
              "Costs for freight came down faster than the firm had dared to hope.",
              "The dividend stays where it was, which disappointed some shareholders.",
              "Rival {firm:b} will publish its own figures on {day:b}.",
              "For the year as a whole the company now expects growth of {percent:b}, a little above its earlier "
              "forecast."]},
    {"title": ["Researchers present {device}", "{university} builds {device}"],
     "lead": ["Engineers at {university} have built {device} that costs a tenth of what hospitals and farms pay today.",
              "{device} developed at {university} has passed its first long test outside the laboratory, the group "
              "reported on {day}."],
     "body": ["It was tried for {n:40} weeks in {town}, where it failed only twice.",
              "\"The trick is to leave things out,\" said {person}, who began the work as a student.",
              "The parts come from bicycles, telephones and an old sewing machine.",
              "A paper with all drawings is free for anyone to use, and {n:300} groups have asked for it.",
              "{firm} has offered {money} for a licence, which the university declined.",
              "Independent experts called the result promising but warned that {n:30} samples prove little.",
              "The next version should weigh {percent} less and survive a fall from a table.",
              "Money for two more years comes from a foundation in {town:b}."]},
    {"title": ["The {species} is back near {town}", "Count finds more of the {species}"],
     "lead": ["The {species}, thought to have vanished from the valley of the {river}, has been seen again near {town}.",
              "Volunteers counted {n:700} sightings of the {species} around {town} this spring, the most since records "
              "began."],
     "body": ["Wetlands dug {n:12} years ago have begun to look as if they had always been there.",
              "{person} of the nature trust first noticed tracks on a frosty morning in {month}.",
              "Farmers are paid {n:900} crowns a hectare for mowing late and leaving the edges wild.",
              "Not everyone is glad: anglers at {town:b} speak of losses of {percent}.",
              "Dogs should be kept on a lead between the weir and the old mill.",
              "A camera beside the {river:b} will show pictures to anyone who wants to look.",
              "Biologists at {university} will ring {n:90} young animals to learn where they go in winter.",
              "\"Give a river room and it does the rest,\" the warden of the reserve said."]},
    {"title": ["{club} beat {club:b}", "Late goal sinks {club:b}"],
     "lead": ["{club} beat {club:b} by two goals to one on {day} and moved up to third place before {n:9000} spectators.",
              "A goal in the last minute gave {club} a win at {club:b} that few of the {n:9000} in the ground had seen "
              "coming."],
     "body": ["{person} headed the visitors in front after a corner that should never have been given.",
              "The equaliser came from {person:b}, who ran half the length of the field without being touched.",
              "Rain had made the grass so heavy that the referee looked at it three times before the start.",
              "\"We were second best for an hour and then we stopped thinking,\" the winning coach said.",
              "{percent} of possession was not enough for the home side, who hit the post twice.",
              "Goalkeeper {person:c} saved a penalty and was carried from the field with a twisted knee.",
              "On {day:b} they travel to {club:c}, who have not lost since {month}.",
              "The losers stay in the bottom half with {n:30} points."]},
    {"title": ["{festival} opens in {town}", "{n:60} concerts in ten days: {festival}"],
     "lead": ["With a procession along the {river} the festival {festival} opened in {town} on {day}, larger and louder "
              "than ever.",
              "{town} is full of visitors for {festival}, which brings {n:60} concerts, readings and films to barns, "
              "boats and back rooms."],
     "body": ["{person} plays an instrument of glass and water that nobody else in the country owns.",
              "Tickets for the opening night were gone within {n:50} minutes.",
              "Children get in free and may try everything that does not break.",
              "The budget of {money} comes to more than half from donations.",
              "Critics liked the play about the closing of {firm} best, although it lasts four hours.",
              "Trains from {town:b} run until two in the morning on all days.",
              "At the end {person:b} will read from a novel that is to appear in {month}.",
              "Last year {n:8000} guests came, and {percent} of them from abroad."]},
    {"title": ["Clinic in {town} saved", "New ward for {town}"],
     "lead": ["The small hospital in {town} will stay open, the health board decided on {day} after a winter of protest.",
              "A ward with {n:60} beds for heart patients opened in {town} on {day}, two years later than planned."],
     "body": ["Patients waited {n:40} weeks on average for an operation that now takes an afternoon.",
              "{person}, a nurse for thirty years, collected {n:9000} signatures from door to door.",
              "The board wants to save {money} by sharing laboratories with {town:b}.",
              "Doctors from abroad fill {percent} of the posts, and {n:20} are vacant.",
              "Births remain at {town:c}, half an hour away when the road is free.",
              "A study by {university} found that small wards have no more complications than large ones.",
              "\"You heal better where somebody knows your name,\" said a visitor on the stairs.",
              "Parking will cost nothing for the first {n:90} minutes."]},
    {"title": ["How {town} rescued its {dish}", "A prize for {dish}"],
     "lead": ["A recipe for {dish} that was nearly forgotten has won {town} a prize of the guild of country cooks.",
              "Every {day} before sunrise {person} makes {dish} in a kitchen in {town} that is no larger than a van."],
     "body": ["The secret, she says, is patience and a pan that has never seen soap.",
              "Her grandmother sold it from a cart at the station for {n:40} years.",
              "Restaurants in {town:b} order {n:300} portions a week and would take twice as many.",
              "{firm} asked for the recipe and was sent home with a jar and a smile.",
              "A course for {n:16} beginners in {month} was full after one evening.",
              "Salt comes from the pans at {town:c}, where wind and sun do the work.",
              "The guild praised \"a taste of smoke and weather that no factory can make\".",
              "Prices have risen by {percent} in a year, because good flour has become scarce."]},
    {"title": ["Power from the sea at {town}", "{firm} plans a wind park off {town}"],
     "lead": ["{firm} wants to build {n:80} wind turbines off the coast at {town}, enough for every household in the "
              "county.",
              "The first cable from the new sea park reached the beach at {town} on {day}, pulled ashore by two tugs "
              "and a crowd."],
     "body": ["Each tower stands in {n:60} metres of water on three legs of steel made at {town:b}.",
              "Fishers are to receive {money} for the grounds that they lose.",
              "{person} of the coast guard warned small boats to keep a mile away until {month}.",
              "Radar that watches for flocks of birds can stop the blades within a minute.",
              "The price agreed with the state lies {percent} below that of the last park.",
              "From the dunes the towers will look about as tall as a thumbnail, the planners promise.",
              "A group of hotel owners has gone to court and expects a ruling by {month:b}.",
              "Students from {university} count porpoises with microphones on the sea floor."]},
    {"title": ["School in {town} bans homework", "Pupils in {town} learn outdoors"],
     "lead": ["A school in {town} has done without homework for a year, and the results surprised even its head teacher.",
              "Since {month} the pupils of a school in {town} spend every {day} in the forest, whatever the weather."],
     "body": ["Marks in mathematics improved by {percent}, while those in languages stayed the same.",
              "\"At first they did not know what to do with an empty afternoon,\" said head teacher {person}.",
              "Of {n:500} families only {n:19} took their children elsewhere.",
              "Researchers of {university} compared the school with one in {town:b}.",
              "The ministry watches with interest and has promised {money} for similar trials.",
              "Older pupils help younger ones for an hour each day and are paid in library hours.",
              "Teachers say they prepare more and correct less.",
              "Whether it will last is to be decided after another {n:20} months."]},
]

CHINESE = [
    {"title": "海湾新桥通车", "text": "连接东岸与西岸的海湾新桥于周六上午正式通车，数千名市民步行走过桥面，庆祝这座历时六年建成的大桥。"
     "大桥全长四公里，设有双向六车道和一条自行车道，预计每天可通行五万辆汽车。市长表示，新桥将使两岸之间的通勤时间从五十分钟缩短到十五分钟。"
     "不过，一些居民担心桥头附近的交通会更加拥堵，要求增加公共汽车班次。有关部门说，三条新的公交线路将在下个月投入运营。",
     "copies": [
         ("edited", "连接东岸与西岸的海湾新桥于周日上午正式通车，数千名市民步行走过桥面，庆祝这座历时六年建成的大桥。"
          "大桥全长四公里，设有双向六车道和一条自行车道，预计每天可通行五万辆汽车。市长表示，新桥将使两岸之间的通勤时间从五十分钟缩短到十五分钟。"
          "不过，一些居民担心桥头附近的交通会更加拥堵，要求增加公共汽车班次。有关部门说，三条新的公交线路将在下个月投入运营。"),
         ("near-miss", "连接东岸与西岸的海湾新桥于周六上午正式通车，数千名市民步行走过桥面，庆祝这座历时六年建成的大桥。"
          "大桥全长四公里，设有双向六车道和一条自行车道，预计每天可通行五万辆汽车。市长表示，新桥将使两岸之间的通勤时间从五十分钟缩短到十五分钟。"
          "通车第一天，桥上因一辆货车抛锚而堵塞了近两个小时，警方提醒司机保持车距，并请市民尽量在早高峰之外出行。")]},
    {"title": "古镇图书馆重新开放", "text": "经过三年的修缮，古镇图书馆本周重新向读者开放。这座木结构建筑建于一百二十年前，曾是当地商人的会馆。"
     "工匠们按照老照片恢复了雕花门窗，并在地下加建了一间恒温书库，用来保存八千册地方文献。馆长说，图书馆每晚开放到九点，周末还会为孩子们举办讲故事活动。"
     "第一天就有一千多人前来参观，不少老人带着孙辈寻找自己年轻时读过的书。",
     "copies": [
         ("boilerplate", "经过三年的修缮，古镇图书馆本周重新向读者开放。这座木结构建筑建于一百二十年前，曾是当地商人的会馆。"
          "工匠们按照老照片恢复了雕花门窗，并在地下加建了一间恒温书库，用来保存八千册地方文献。馆长说，图书馆每晚开放到九点，周末还会为孩子们举办讲故事活动。"
          "第一天就有一千多人前来参观，不少老人带着孙辈寻找自己年轻时读过的书。欢迎转载，请注明出处。")]},
    {"title": "茶农迎来好收成", "text": "今年春天雨水充足，山区的茶农迎来了十年来最好的收成。天还没亮，采茶人就背着竹篓上山，一直忙到傍晚。"
     "合作社负责人介绍，头茬茶叶的价格比去年上涨了两成，订单大多来自沿海城市。为了留住年轻人，村里办起了制茶学校，还在网上直播炒茶的过程。"
     "专家提醒，气候变暖可能使虫害提前，茶园应当保留一些树木和杂草，让鸟类和益虫有地方栖息。",
     "copies": [
         ("republished", "今年春天雨水充足，山区的茶农迎来了十年来最好的收成。天还没亮，采茶人就背着竹篓上山，一直忙到傍晚。"
          "合作社负责人介绍，头茬茶叶的价格比去年上涨了两成，订单大多来自沿海城市。为了留住年轻人，村里办起了制茶学校，还在网上直播炒茶的过程。"
          "专家提醒，气候变暖可能使虫害提前，茶园应当保留一些树木和杂草，让鸟类和益虫有地方栖息。")]},
]

THAI = [
    {"title": "ตลาดน้ำเปิดอีกครั้ง", "text": "ตลาดน้ำเก่าแก่ริมคลองเปิดให้บริการอีกครั้งเมื่อวันเสาร์ที่ผ่านมา หลังจากปิดปรับปรุงนานเกือบสองปี "
     "พ่อค้าแม่ค้ากว่าร้อยรายพายเรือมาขายอาหารพื้นบ้าน ผลไม้ และงานหัตถกรรม นายกเทศมนตรีกล่าวว่าเทศบาลได้ซ่อมทางเดินไม้และติดตั้งระบบบำบัดน้ำเสียใหม่ "
     "นักท่องเที่ยวหลายคนบอกว่าบรรยากาศยังคงเหมือนเดิม แต่สะอาดและปลอดภัยกว่าเดิมมาก ตลาดจะเปิดทุกวันเสาร์และอาทิตย์ตั้งแต่หกโมงเช้าจนถึงบ่ายสองโมง",
     "copies": [
         ("edited", "ตลาดน้ำเก่าแก่ริมคลองเปิดให้บริการอีกครั้งเมื่อวันเสาร์ที่ผ่านมา หลังจากปิดปรับปรุงนานเกือบสามปี "
          "พ่อค้าแม่ค้ากว่าร้อยรายพายเรือมาขายอาหารพื้นบ้าน ผลไม้ และงานหัตถกรรม นายกเทศมนตรีกล่าวว่าเทศบาลได้ซ่อมทางเดินไม้และติดตั้งระบบบำบัดน้ำเสียใหม่ "
          "นักท่องเที่ยวหลายคนบอกว่าบรรยากาศยังคงเหมือนเดิม แต่สะอาดและปลอดภัยกว่าเดิมมาก ตลาดจะเปิดทุกวันเสาร์และอาทิตย์ตั้งแต่หกโมงเช้าจนถึงบ่ายสองโมง")]},
    {"title": "นักวิจัยปลูกป่าชายเลน", "text": "นักวิจัยและชาวบ้านร่วมกันปลูกต้นโกงกางกว่าสองหมื่นต้นตามแนวชายฝั่งเพื่อป้องกันการกัดเซาะ "
     "โครงการนี้เริ่มเมื่อห้าปีก่อนหลังจากพายุลูกใหญ่ทำลายบ่อเลี้ยงกุ้งไปหลายแห่ง หัวหน้าโครงการเล่าว่าต้นกล้ารอดตายมากกว่าเจ็ดในสิบต้น และปูกับปลาเริ่มกลับมาแล้ว "
     "ชาวประมงจึงตกลงจะไม่ลากอวนใกล้ฝั่งในช่วงฤดูวางไข่ โรงเรียนในหมู่บ้านยังพาเด็ก ๆ มาวัดความสูงของต้นไม้ทุกเดือน",
     "copies": [
         ("republished", "นักวิจัยและชาวบ้านร่วมกันปลูกต้นโกงกางกว่าสองหมื่นต้นตามแนวชายฝั่งเพื่อป้องกันการกัดเซาะ "
          "โครงการนี้เริ่มเมื่อห้าปีก่อนหลังจากพายุลูกใหญ่ทำลายบ่อเลี้ยงกุ้งไปหลายแห่ง หัวหน้าโครงการเล่าว่าต้นกล้ารอดตายมากกว่าเจ็ดในสิบต้น และปูกับปลาเริ่มกลับมาแล้ว "
          "ชาวประมงจึงตกลงจะไม่ลากอวนใกล้ฝั่งในช่วงฤดูวางไข่ โรงเรียนในหมู่บ้านยังพาเด็ก ๆ มาวัดความสูงของต้นไม้ทุกเดือน")]},
]
