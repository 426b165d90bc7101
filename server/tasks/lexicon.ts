/**
 * The words labels are made of. A domain brings what its trade talks about; the general words are shared by all domains
 * of one vocabulary. Two vocabularies exist: `SEEN` labels everything but `test_vocab`, which draws from `UNSEEN` alone
 * (no word is in both; a test holds that). `SEEN` stays near 300 words, since each is one token of a tiny model.
 */
import type { Split } from '../../schemas/task.ts';

export interface Domain {
  name: string;
  objects: readonly string[];
  services: readonly string[];
  steps: readonly string[];
  roles: readonly string[];
  states: readonly string[];
  places: readonly string[];
}

/** Words that fit every domain; a `...Kind` follows an object ("Order Queue") or, for devices, a place. */
export interface GeneralWords {
  clients: readonly string[];
  clientKinds: readonly string[];
  edges: readonly string[];
  edgeKinds: readonly string[];
  serviceKinds: readonly string[];
  stores: readonly string[];
  devices: readonly string[];
  entityKinds: readonly string[];
  roleKinds: readonly string[];
  states: readonly string[];
}

export interface Vocabulary {
  general: GeneralWords;
  domains: readonly Domain[];
  /** Whole labels in other scripts, one list a language, for level 4 and up. */
  scripts: readonly (readonly string[])[];
}

const words = (text: string): string[] => text.split(' ');

function domain(name: string, fields: Record<Exclude<keyof Domain, 'name'>, string>): Domain {
  return {
    name,
    objects: words(fields.objects),
    services: words(fields.services),
    steps: words(fields.steps),
    roles: words(fields.roles),
    states: words(fields.states),
    places: words(fields.places),
  };
}

export const SEEN: Vocabulary = {
  general: {
    clients: words('Browser Phone Kiosk Tablet'),
    clientKinds: words('App Portal Website'),
    edges: words('Gateway Proxy Balancer Firewall'),
    edgeKinds: words('Gateway Proxy'),
    serviceKinds: words('Service Engine Worker'),
    stores: words('Database Cache Archive Queue Index'),
    devices: words('Router Switch Server Printer Scanner Sensor Camera Modem Laptop Terminal'),
    entityKinds: words('Item Record Type Group Note'),
    roleKinds: words('Manager Lead Clerk Analyst'),
    states: words('Idle Ready Failed Closed'),
  },
  domains: [
    domain('web services', {
      objects: 'User Session Token Page Comment Profile Message Tenant',
      services: 'Login Search Billing Mailer Scheduler',
      steps: 'Fetch Parse Validate Render Deploy Monitor Encrypt Publish',
      roles: 'Engineer Architect Tester Designer',
      states: 'Online Offline Expired Blocked',
      places: 'Office Datacenter',
    }),
    domain('retail', {
      objects: 'Order Cart Product Coupon Basket Voucher Discount Review',
      services: 'Catalog Checkout Pricing Inventory Returns',
      steps: 'Browse Pay Pack Refund Exchange Restock Label Rate',
      roles: 'Cashier Buyer Merchandiser Stylist',
      states: 'Placed Paid Packed Returned',
      places: 'Shop Warehouse',
    }),
    domain('health', {
      objects: 'Patient Visit Prescription Allergy Vaccine Symptom Referral Bed',
      services: 'Triage Pharmacy Radiology Laboratory Admission',
      steps: 'Examine Diagnose Treat Discharge Vaccinate Refer Observe Prescribe',
      roles: 'Nurse Doctor Surgeon Therapist',
      states: 'Waiting Admitted Stable Recovered',
      places: 'Ward Clinic',
    }),
    domain('logistics', {
      objects: 'Parcel Truck Route Pallet Container Driver Shipment Address',
      services: 'Tracking Dispatch Customs Routing Fleet',
      steps: 'Load Sort Ship Deliver Weigh Unload Seal Transfer',
      roles: 'Dispatcher Courier Loader Planner',
      states: 'Loaded Delayed Delivered Lost',
      places: 'Depot Harbor',
    }),
    domain('banking', {
      objects: 'Account Loan Card Payment Deposit Invoice Branch Mortgage',
      services: 'Ledger Fraud Credit Treasury Settlement',
      steps: 'Verify Approve Sign Settle Audit Invest Withdraw Reconcile',
      roles: 'Teller Broker Auditor Accountant',
      states: 'Pending Approved Frozen Overdue',
      places: 'Vault Lobby',
    }),
    domain('research', {
      objects: 'Sample Dataset Paper Grant Hypothesis Protocol Specimen Survey',
      services: 'Library Sequencer Simulator Repository Imaging',
      steps: 'Collect Measure Analyze Compare Replicate Filter Plot Cite',
      roles: 'Professor Student Chemist Reviewer',
      states: 'Drafted Submitted Accepted Rejected',
      places: 'Lab Campus',
    }),
    domain('media', {
      objects: 'Video Podcast Article Photo Script Episode Playlist Channel',
      services: 'Encoder Streaming Newsroom Subtitles Advertising',
      steps: 'Record Edit Mix Upload Translate Broadcast Archive Review',
      roles: 'Editor Producer Reporter Director',
      states: 'Recorded Edited Published Archived',
      places: 'Studio Theater',
    }),
    domain('manufacturing', {
      objects: 'Part Batch Machine Blueprint Material Tool Supplier Mold',
      services: 'Assembly Maintenance Quality Casting Robotics',
      steps: 'Cut Weld Drill Paint Inspect Assemble Polish Test',
      roles: 'Operator Foreman Technician Inspector',
      states: 'Running Stopped Jammed Calibrated',
      places: 'Plant Hall',
    }),
  ],
  scripts: [
    words('受注 在庫確認 出荷 請求書 顧客 倉庫 検品 承認 返品 集計 通知 配送'),
    words('订单 支付 库存 审核 发货 客户 仓库 报表 登录 数据库 网关 提醒'),
    words('Заявка Склад Оплата Доставка Проверка Клиент Отчёт Архив Договор Касса Поставщик Возврат'),
    words('طلب دفع مخزن شحن عميل مراجعة تقرير فاتورة موافقة إرسال استلام أرشيف'),
  ],
};

export const UNSEEN: Vocabulary = {
  general: {
    clients: words('Handset Wristband Dashboard Intercom'),
    clientKinds: words('Screen Widget Panel'),
    edges: words('Ingress Relay Bastion Checkpoint'),
    edgeKinds: words('Relay Ingress'),
    serviceKinds: words('Daemon Agent Module'),
    stores: words('Registry Bucket Logbook Stockpile Snapshot'),
    devices: words('Repeater Antenna Thermostat Beacon Drone Bridge Charger Radio Pump Dish'),
    entityKinds: words('Entry Variant Bundle Tag Summary'),
    roleKinds: words('Steward Chief Trainee Advisor'),
    states: words('Dormant Armed Broken Finished'),
  },
  domains: [
    domain('farming', {
      objects: 'Field Crop Tractor Seed Fence Orchard Herd Silo',
      services: 'Irrigation Greenhouse Dairy Mill Cannery',
      steps: 'Plow Sow Water Harvest Mow Graze Thresh Bale',
      roles: 'Farmer Shepherd Beekeeper Veterinarian',
      states: 'Fallow Planted Ripe Withered',
      places: 'Barn Pasture',
    }),
    domain('aviation', {
      objects: 'Flight Runway Passenger Aircraft Baggage Gate Seat Itinerary',
      services: 'Boarding Catering Refueling Radar Lounge',
      steps: 'Taxi Climb Cruise Descend Land Deice Board Refuel',
      roles: 'Pilot Navigator Purser Mechanic',
      states: 'Parked Airborne Diverted Landed',
      places: 'Tower Hangar',
    }),
    domain('astronomy', {
      objects: 'Star Comet Galaxy Orbit Telescope Nebula Eclipse Crater',
      services: 'Spectroscopy Photometry Astrometry Observatory Planetarium',
      steps: 'Point Focus Expose Stack Subtract Calibrate Classify Announce',
      roles: 'Astronomer Observer Physicist Curator',
      states: 'Cooling Aligned Saturated Eclipsed',
      places: 'Dome Summit',
    }),
  ],
  scripts: [
    words('주문 결제 재고 배송 고객 검토 보고서 승인 반품 창고 알림 등록'),
    words('Παραγγελία Πληρωμή Αποθήκη Αποστολή Πελάτης Έλεγχος Αναφορά Τιμολόγιο Έγκριση Επιστροφή Αρχείο Ειδοποίηση'),
  ],
};

/** The words a split may use. */
export function vocabularyOf(split: Split): Vocabulary {
  return split === 'test_vocab' ? UNSEEN : SEEN;
}

/** Every distinct word of a vocabulary, in order of appearance. */
export function wordsOf(vocabulary: Vocabulary): string[] {
  const general = Object.values(vocabulary.general).flat() as string[];
  const own = vocabulary.domains.flatMap((d) => [
    ...d.objects,
    ...d.services,
    ...d.steps,
    ...d.roles,
    ...d.states,
    ...d.places,
  ]);
  return [...new Set([...general, ...own])];
}
