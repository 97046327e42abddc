import { mount } from 'svelte';
import App from './App.svelte';
import { startReader } from './state/reader';
import './styles/tokens.css';
import './styles/base.css';

startReader();
mount(App, { target: document.getElementById('app')! });
