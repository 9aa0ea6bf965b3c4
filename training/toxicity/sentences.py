"""Sentences written for the toxicity head, to teach it what the public data do not contain."""

GROUPS = (
    "women", "men", "Muslims", "Jews", "Christians", "Hindus", "Sikhs", "atheists", "black people", "white people",
    "Asian people", "people of colour", "Roma", "immigrants", "migrants", "refugees", "asylum seekers", "foreigners",
    "gay people", "lesbians", "bisexual people", "transgender people", "LGBT people", "queer people", "gays",
    "disabled people", "people with disabilities", "deaf people", "blind people", "autistic people", "the elderly",
    "Arabs", "Africans", "Mexicans", "Indigenous peoples", "Israelis", "Palestinians", "blacks", "Islam", "Judaism",
)  # fmt: skip
NEUTRAL = (
    "{} have the right to education.", "{} are entitled to equal protection of the law.",
    "{} live in this town and pay taxes like everybody else.", "Many {} work as nurses, teachers and engineers.",
    "The survey asked {} about discrimination at work.", "The law protects {} from discrimination.",
    "{} are our neighbours and friends.", "Nobody should be attacked because of prejudice against {}.",
    "Hatred against {} is a crime, not an opinion.", "{} deserve dignity and respect.",
    "States must ensure that {} can take part in public life.", "What you say about {} is not supported by facts.",
    "There is no evidence that {} cause crime.", "Please stop generalising about {}.", "I am proud to work with {}.",
    "Violence against {} has risen, official figures show.", "{} face barriers when they look for a job.",
    "Blaming {} for the economy ignores what research shows.", "{} have contributed to our culture for centuries.",
    "The claim that {} control the media is a myth.", "It is false that {} are less intelligent.",
    "Insulting {} does not make your argument stronger.", "Have you ever talked with {} about their lives?",
    "Not all {} think alike, and judging them by stereotypes is unfair.",
    "You are wrong: {} earn less for the same work, says the European Union.",
    "In a survey by a European agency, one in three {} had been harassed.",
    "What evidence do you have that {} run the banks?", "You blame {} for a problem that they did not cause.",
    "Courts have confirmed that {} may marry and raise children.", "Your post repeats an old myth about {}.",
    "The United Nations calls on states to protect {} from violence.", "Research on {} and crime shows no such link.",
    "Why do you think {} should have fewer rights than you?", "I know many {}, and what you say is not true of them.",
)  # fmt: skip
"""Sentences written for this project; the last eight and every fifth group are held out."""
HOSTILE = (
    "{} ruin everything.", "{} should be thrown out of this country.", "{} do not belong here.", "I can't stand {}.",
    "{} are disgusting.", "{} are a disease.", "Get rid of {}.", "{} are all criminals.", "We should ban {}.",
    "{} make me sick.", "The world would be better without {}.", "{} are vermin.", "{} are taking over our country.",
    "All {} are liars and thieves.", "Send {} back where they came from.", "{} should shut up and know their place.",
)  # fmt: skip
"""Mild attacks on the same groups, without slurs, so that a group's name alone decides nothing; the last three are held
out."""
THREATS = (
    "I hope you die.", "Drop dead.", "You will pay for this.", "Somebody should hurt you.", "You make me sick.",
    "You people make me sick.", "I hope you suffer.", "Go back to where you came from.", "Shut up.", "Shut your mouth.",
    "You are disgusting.", "You are so stupid.", "You are dumb.", "You are pathetic.",
    "You should be ashamed, you fool.",
)  # fmt: skip
INSULTS = (
    "idiot", "moron", "loser", "clown", "fool", "imbecile", "pig", "coward", "creep", "liar", "piece of garbage",
    "piece of trash", "waste of space", "disgrace", "joke", "parasite", "rat", "snake", "pathetic little man", "bigot",
    "stupid child", "dumb animal", "worthless nobody", "disgusting person", "pathetic loser", "ignorant fool",
)  # fmt: skip
INSULTING = (
    "You are {}.", "You're {}!", "Shut up, you are {}.", "What {} you are.", "Only {} would write this.",
    "Get lost, you {bare}.", "{group} are all like you: {}.", "Go away, {bare}.", "Every one of {group} is {}.",
    "Nobody likes you, {bare}.", "You {bare}, go back to school.", "Listen, {bare}, nobody asked you.",
    "You must be {} to believe that.", "Typical {bare}, as always.", "You stupid {bare}, read a book.",
)  # fmt: skip
"""Insults written for this project, common and mild; the last four sentences are held out."""
MENTIONING = (
    "Calling somebody {} is not an argument.", "Nobody should be called {} because of their religion.",
    "He was called {} at school and complained.", "Comparing people to {} is how persecution began.",
    "The word {bare} hurts people, please do not use it.", "Please stop calling other people {}.",
)  # fmt: skip
"""The same words mentioned, not used; the last one is held out."""
EVERYDAY = (
    "I hate Mondays.", "Thank you for your reply.", "Good morning everyone!", "That is not true.", "You are right.",
    "You are mistaken, and here is why.", "You are wrong about this.", "Could you share your source?", "I disagree.",
    "Why do you think so?", "What makes you believe that?", "The weather is terrible today.", "No.", "Yes.", "Hello!",
    "You are welcome here.", "Let us talk about facts.", "This post repeats a stereotype.", "I feel sad to read this.",
)  # fmt: skip
